/**
 * The demo network as its planners would write it down: six invented carriers between real airports. Nobody living flies under these codes
 * or names, so that no demo answer can be taken for a real flight.
 */

/** An invented carrier and what it flies. */
export type DemoCarrier = {
  code: string
  name: string
  /**
   * One line a city pair: first flight number, hub, other end, aircraft type, days (`daily` or SSIM digits), then the local departures at
   * the hub, `/`, and those at the other end; or `x5` for five rotations spread over the day. Outbound flights have the even steps
   * from the first number, inbound ones the numbers between.
   */
  rotations: string
  /** Flights over more than one leg under one number: number, airport, local departure, airport, …, aircraft type, days. */
  through?: string
}

export const DEMO_CARRIERS: readonly DemoCarrier[] = [
  {
    code: 'E1',
    name: 'Estrella Airlines',
    rotations: `
      1 JFK LAX 321 daily x6
      21 JFK SFO 321 daily x3
      31 JFK MIA 738 daily x2
      41 JFK ORD 738 daily x2
      51 JFK BOS E90 daily x2
      61 JFK SEA 738 daily x1
      71 JFK DFW 738 daily x1
      81 JFK YYZ E90 daily x2
      91 JFK MEX 738 daily x1
      101 JFK BOG 738 daily 0815 / 1545
      201 LAX SFO 738 daily x4
      221 LAX ORD 738 daily x2
      231 LAX MIA 738 daily x1
      241 LAX DFW 738 daily x2
      251 LAX SEA 738 daily x2
      261 LAX YVR 738 daily x1
      271 LAX MEX 738 daily x2
      281 LAX BOS 321 daily x1
      291 LAX EWR 321 daily x1
      301 LAX HNL 789 daily 0830 1215 1740 / 0715 1330 2210
      401 JFK LHR 77W daily 1850 2030 2240 / 0945 1300 1720
      411 JFK CDG 789 daily 1820 2310 / 1015 1335
      415 JFK FRA 789 daily 2135 / 1105
      417 JFK MAD 789 13467 2010 / 1145
      419 JFK FCO 789 12456 1730 / 1020
      421 JFK AMS 789 daily 1905 / 1140
      423 JFK GRU 77W daily 2200 / 2225
      425 JFK EZE 789 13567 2120 / 2130
      429 JFK LOS 789 246 1155 / 2310
      431 JFK NRT 77W daily 1230 / 1715
      501 LAX NRT 789 daily 1120 1650 / 1705 1930
      505 LAX HND 77W daily 2305 / 1550
      507 LAX ICN 789 daily 1240 / 1940
      509 LAX HKG 77W daily 2345 / 1230
      511 LAX SYD 77W daily 2230 / 1005
      513 LAX AKL 789 daily 2215 / 1945
      515 LAX LHR 77W daily 1725 / 1450
      517 LAX CDG 789 daily 1545 / 1030
      519 LAX GRU 789 135 1430 / 2340
      521 LAX NAN 789 257 2330 / 2150
      523 LAX BOG 738 daily 2310 / 1005`,
  },
  {
    code: 'J1',
    name: 'Jade Lines',
    rotations: `
      1 PVG PEK 333 daily x4
      21 PVG CAN 333 daily x3
      41 PEK CAN 333 daily x3
      61 PVG CTU 321 daily x2
      71 PEK CTU 321 daily x2
      81 CAN CTU 321 daily x2
      91 PVG HKG 321 daily x2
      101 PEK HKG 321 daily x1
      111 PVG NRT 321 daily x2
      121 PVG HND 333 daily x1
      131 PVG ICN 321 daily x2
      141 PEK ICN 321 daily x1
      151 PEK HND 333 daily x1
      161 PVG TPE 321 daily x2
      171 CAN BKK 321 daily x1
      181 PVG BKK 333 daily 1845 / 0215
      191 CAN SIN 333 daily 1510 / 0850
      201 PVG SIN 333 daily 1640 / 0110
      211 PEK SIN 333 daily 1520 / 0015
      221 CAN KUL 321 daily x1
      231 CTU KTM 321 246 0940 / 1330
      301 PVG LHR 789 daily 1330 / 2025
      303 PVG CDG 77W daily 2350 / 1215
      305 PVG FRA 77W daily 1320 / 2040
      307 PVG FCO 789 135 1240 / 2110
      311 PVG LAX 77W daily 1310 2055 / 1155 2320
      315 PVG SFO 77W daily 1420 / 1330
      317 PVG JFK 77W daily 1045 / 1620
      319 PVG YYZ 789 247 1630 / 1520
      321 PVG SYD 789 daily 1935 / 1145
      323 PVG AKL 789 1357 1415 / 1010
      325 PVG MEL 789 246 2015 / 1120
      341 PEK LHR 789 daily 1345 / 2220
      343 PEK FRA 77W daily 1350 / 2015
      345 PEK ARN 789 1357 1410 / 1900
      347 PEK HEL 789 246 1330 / 1810
      349 PEK WAW 789 257 0235 / 1155
      351 PEK JFK 77W daily 1300 / 1650
      353 PEK LAX 77W daily 1500 / 2245
      355 PEK YVR 789 daily 1530 / 1340
      357 PEK DXB 789 daily 1755 / 0410
      359 PEK DEL 789 135 1525 / 0230
      371 CAN CDG 789 daily 0025 / 1310
      373 CAN AMS 789 257 0010 / 1435
      375 CAN LAX 77W daily 2125 / 2340
      377 CAN SYD 789 daily 2110 / 0955
      379 CAN MEL 789 246 2105 / 1040
      381 CAN AKL 789 1357 0035 / 2235
      383 CAN DXB 789 daily 1640 / 2320
      385 CAN NBO 789 246 0015 / 1420
      387 CAN DEL 321 357 1905 / 0115
      389 CAN NRT 321 daily 0905 / 1545`,
  },
  {
    code: 'M1',
    name: 'Meridian Pacific',
    rotations: `
      1 SIN LHR 388 daily 0905 2330 / 1120 2205
      5 SIN CDG 77W daily 0015 / 1150
      7 SIN FRA 388 daily 2355 / 2155
      9 SIN AMS 359 daily 0010 / 1115
      11 SIN ZRH 77W 12467 0125 / 1040
      13 SIN FCO 359 1357 0150 / 1125
      15 SIN CPH 359 246 0035 / 1230
      17 SIN IST 359 1357 0140 / 1310
      31 SIN SYD 388 daily 0745 1425 2050 / 0910 1605 2225
      41 SIN MEL 359 daily 0750 1955 / 1105 1620
      45 SIN ADL 359 daily 2315 / 1110
      47 SIN AKL 77W daily 0850 2045 / 1255 2350
      61 SIN BKK 359 daily x3
      71 SIN HKG 359 daily x2
      81 SIN KUL 738 daily x3
      101 SIN CMB 738 1246 2200 / 0120
      103 SIN BOM 359 daily 0735 1845 / 1140 2330
      107 SIN DEL 359 daily 0905 2010 / 0950 2255
      111 SIN KTM 738 12467 1040 / 1510
      113 SIN NRT 359 daily 0930 2355 / 1100 1830
      117 SIN HND 77W daily 2225 / 0905
      121 SIN ICN 359 daily 2335 / 0900
      125 SIN PVG 359 daily 0820 1440 / 1615 2240
      129 SIN PEK 359 daily 0840 / 1620
      131 SIN CAN 359 daily 0925 / 1505
      135 SIN TPE 359 daily 0815 / 1420
      139 SIN DXB 359 daily 1445 / 2105
      141 SIN JNB 359 13567 0130 / 1345
      143 SIN LAX 359 daily 2045 / 2225
      145 SIN SFO 359 13567 0925 / 1020
      201 AKL SYD 321 daily x4
      221 AKL MEL 321 daily x2
      231 AKL ADL 321 135 0840 / 1245
      241 AKL NAN 321 daily 0925 1430 / 1015 1850
      245 AKL APW 321 12467 0910 / 1505
      247 AKL HNL 789 357 0945 / 2315
      249 AKL LAX 789 daily 2015 / 2130
      251 AKL SFO 789 1246 1945 / 2045
      253 AKL YVR 789 257 2000 / 1945
      255 AKL NRT 789 daily 0955 / 1830
      257 AKL HKG 789 13567 2355 / 1920
      259 AKL PVG 789 246 2310 / 1450
      261 AKL EZE 789 14 1840 / 2340
      301 SYD MEL 738 daily x4
      321 SYD ADL 738 daily x2
      331 MEL ADL 738 daily x2
      341 SYD NAN 738 daily 1015 / 1725
      343 SYD HNL 789 daily 0640 / 1155
      345 NAN APW 738 37 1030 / 1500
      347 APW HNL 738 5 2310 / 1040
      349 NAN HNL 738 26 2220 / 1120`,
    through: `
      21 LHR 2100 SIN 1940 SYD 388 daily
      22 SYD 1540 SIN 2315 LHR 388 daily`,
  },
  {
    code: 'N1',
    name: 'Nordlys Air',
    rotations: `
      1 ARN CPH 320 daily x4
      21 ARN OSL 320 daily x3
      41 ARN HEL 320 daily x3
      61 CPH OSL 320 daily x3
      81 CPH HEL 320 daily x2
      91 ARN LHR 320 daily x2
      101 CPH LHR 320 daily x2
      111 ARN CDG 320 daily x1
      121 CPH CDG 320 daily x2
      131 ARN FRA 320 daily x1
      141 CPH FRA 320 daily x2
      151 CPH AMS 320 daily x2
      161 ARN AMS 320 daily x1
      171 CPH ZRH 320 daily x1
      181 CPH VIE 320 daily x1
      191 CPH FCO 320 daily x1
      201 CPH MAD 320 daily x1
      211 CPH LIS 320 1357 x1
      221 CPH ATH 320 1246 x1
      231 CPH DUB 320 12345 x1
      241 CPH EDI 320 daily x1
      251 ARN WAW 320 12345 x1
      261 CPH IST 320 daily x1
      301 CPH EWR 333 daily 1215 / 1745
      303 ARN EWR 333 1357 1025 / 1650
      305 CPH ORD 333 13567 1530 / 2200
      307 CPH SFO 359 daily 1220 / 1735
      309 CPH LAX 359 1357 1240 / 1825
      311 ARN JFK 333 12467 1245 / 1900
      313 CPH BOS 333 12467 1555 / 2010
      315 CPH NRT 359 daily 1545 / 1215
      317 CPH PVG 359 135 1750 / 1340
      319 ARN PEK 333 246 1840 / 1315
      321 CPH BKK 359 12456 1425 / 0105
      323 ARN BKK 333 257 1350 / 0135
      325 CPH DEL 333 246 1930 / 0800
      327 CPH YYZ 333 13567 1510 / 1905`,
  },
  {
    code: 'QA',
    name: 'Aurora Airways',
    rotations: `
      1 LHR JFK 77W daily 0825 1120 1400 1640 1830 2015 / 0755 1815 1930 2040 2145 2330
      21 LHR EWR 788 daily 0940 1735 / 1900 2155
      25 LHR BOS 789 daily 1115 1825 / 1810 2120
      29 LHR ORD 789 daily 1035 1620 / 1740 2105
      33 LHR MIA 77W daily 1020 / 1735
      35 LHR LAX 77W daily 0950 1540 / 1655 2050
      39 LHR SFO 789 daily 1110 / 1625
      41 LHR YYZ 788 daily 1240 1800 / 1835 2225
      45 LHR YVR 789 daily 1705 / 1945
      47 LHR MEX 788 13567 1335 / 2055
      49 LHR BOG 788 246 1310 / 2040
      53 LHR JNB 388 daily 1900 / 1930
      55 LHR CPT 789 daily 2120 / 1910
      57 LHR NBO 789 daily 1015 / 2320
      59 LHR LOS 789 daily 1050 / 2305
      61 LHR CAI 321 daily 0930 1650 / 0745 1625
      65 LHR DXB 77W daily 0920 1340 2025 / 0145 0810 1420
      71 LHR DOH 789 13567 1505 / 0755
      73 LHR DEL 789 daily 1115 2050 / 0240 1310
      77 LHR BOM 789 daily 1000 / 0315
      79 LHR BKK 789 1357 2130 / 0015
      81 LHR HKG 77W daily 1105 1820 / 1230 2320
      85 LHR HND 789 daily 0955 1900 / 0920 1140
      89 LHR ICN 789 2467 1220 / 1130
      91 LHR PVG 789 daily 1230 / 1125
      93 LHR PEK 789 1357 1630 / 1240
      301 LHR CDG 320 daily x4
      321 LHR AMS 320 daily x3
      341 LHR FRA 321 daily x3
      361 LHR MAD 321 daily x2
      371 LHR FCO 320 daily x2
      381 LHR CPH 320 daily x2
      391 LHR ARN 320 daily x2
      401 LHR DUB 320 daily x3
      421 LHR EDI 320 daily x3
      441 LHR ZRH 320 daily x2
      451 LHR LIS 320 daily x2
      461 LHR ATH 321 daily x1
      471 LHR IST 321 daily x2
      481 LHR VIE 320 daily x2
      491 LHR OSL 320 daily x1
      501 LHR HEL 320 12345 x1
      511 LHR WAW 320 12345 x1`,
    through: `
      95 LHR 2150 GRU 0830 EZE 77W 13567
      96 EZE 1415 GRU 1900 LHR 77W 12467`,
  },
  {
    code: 'XI',
    name: 'Ivory Wings',
    rotations: `
      1 DXB LHR 388 daily 0245 0740 1430 / 0900 1335 2015
      11 DXB CDG 77W daily 0320 0820 / 1105 2140
      15 DXB FRA 388 daily 0325 0830 / 1110 2130
      19 DXB AMS 77W daily 0830 / 1530
      21 DXB MAD 77W daily 0735 / 1525
      23 DXB FCO 77W daily 0910 / 1520
      25 DXB ZRH 77W daily 0840 / 1525
      27 DXB VIE 77W 12467 0900 / 1545
      29 DXB CPH 77W daily 0820 / 1435
      31 DXB ARN 359 12467 0800 / 1425
      33 DXB OSL 359 1357 0735 / 1420
      35 DXB HEL 359 daily 0930 / 1615
      37 DXB WAW 359 2467 0805 / 1345
      39 DXB IST 77W daily 1045 / 1635
      41 DXB ATH 359 daily 1015 / 1645
      43 DXB LIS 77W daily 0725 / 1415
      45 DXB DUB 77W daily 0730 / 1415
      47 DXB JFK 388 daily 0250 0830 / 1120 2300
      51 DXB LAX 388 daily 0835 / 1630
      53 DXB SFO 77W daily 0855 / 1615
      55 DXB ORD 77W daily 0945 / 2035
      57 DXB YYZ 388 1357 0330 / 1425
      59 DXB GRU 388 daily 0905 / 2355
      65 DXB JNB 388 daily 0440 1005 / 1340 1910
      69 DXB CPT 77W daily 0850 / 1810
      71 DXB NBO 77W daily 1030 / 1640
      73 DXB CAI 77W daily 0815 1500 / 1130 1900
      77 DXB LOS 77W daily 1105 / 1825
      81 DXB DOH 7M8 daily x2
      91 DXB DEL 77W daily 0955 1540 2150 / 0415 1035 1620
      97 DXB BOM 77W daily 0330 1320 2200 / 0430 0955 1920
      103 DXB CMB 77W daily 0245 / 1010
      105 DXB KTM 7M8 23567 1020 / 1725
      107 DXB SIN 388 daily 0310 0915 2105 / 0125 1015 2140
      113 DXB BKK 388 daily 0305 0930 / 0935 2125
      119 DXB HKG 388 daily 0315 1045 / 0035 1800
      123 DXB KUL 77W 1246 0325 / 1915
      125 DXB PVG 77W daily 0325 / 2355
      127 DXB PEK 77W daily 0350 / 2330
      129 DXB CAN 77W daily 1040 / 0015
      131 DXB ICN 388 daily 0340 / 2355
      133 DXB NRT 77W daily 0240 / 2230
      135 DXB SYD 388 daily 0200 1015 / 0600 2110
      139 DXB MEL 388 daily 1010 / 2115
      141 DXB AKL 388 daily 1005 / 2115
      143 DXB ADL 77W 1357 0215 / 2130
      145 DXB EDI 359 13567 0845 / 1450`,
  },
]

/** Codeshares: the operated numbers `from` to `to` are sold by another carrier too, `first` upwards. */
export const CODESHARES: readonly {
  operating: string
  from: number
  to: number
  marketing: string
  first: number
}[] = [
  { operating: 'E1', from: 1, to: 14, marketing: 'QA', first: 801 },
  { operating: 'E1', from: 31, to: 36, marketing: 'QA', first: 831 },
  { operating: 'QA', from: 1, to: 12, marketing: 'E1', first: 801 },
  { operating: 'QA', from: 381, to: 394, marketing: 'N1', first: 881 },
  { operating: 'M1', from: 201, to: 210, marketing: 'J1', first: 801 },
]
