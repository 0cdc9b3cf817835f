/** Which airports the world generator flies to, busiest first: known large ones by name, the others by what little the reference data tell. */
import { randomFrom } from '../src/demo/random.ts'
import { type Airport, airport, airports, greatCircleKm } from '../src/travel/airport.ts'

/** Large airports, roughly by their number of departures. */
const LARGE = `
ATL ORD DFW DEN LAX LHR CDG FRA AMS IST PEK DXB CLT LAS MAD PHX JFK MIA CAN PVG
SEA MUC DEL CGK IAH BCN SIN MSP EWR DTW HKG KUL BOM BKK MCO SFO FCO BOS SYD YYZ
PHL LGA HND GRU ICN MEX SVO ZRH VIE CPH DCA ARN OSL SLC BRU DUB LGW DUS MAN ORY
BWI IAD MEL HEL BER JNB LIS ATH DOH TPE NRT MNL CTU SHA KMG XIY SZX CKG SAW RUH
JED BOG LIM SCL AEP GIG BSB CGH PTY CUN YVR YUL YYC TPA SAN MDW DAL HOU PDX STL
BNA AUS OAK SJC SMF RDU CLE IND CMH PIT CVG MCI MKE SAT FLL PBI RSW HNL ANC MSY
STN EDI GLA BHX LTN NCE LYS MRS TLS GVA HAM STR CGN MXP LIN VCE NAP CTA BLQ PMI
AGP ALC VLC SVQ OPO LPA TFN TFS WAW KRK PRG BUD OTP SOF BEG ZAG KBP RIX VNO TLL
LED DME VKO KZN SVX OVB AER KRR UFA TAS ALA NQZ TBS EVN GYD TLV AMM BEY CAI HRG
SSH ALG TUN CMN RAK ADD NBO DAR EBB KGL LOS ABV ACC ABJ DSS CPT DUR MRU TNR LAD
KWI BAH AUH SHJ MCT DMM THR MHD IKA BGW KHI LHE ISB CMB DAC KTM MLE BLR MAA HYD
CCU COK AMD PNQ GOI HKT DMK CNX SGN HAN DAD PNH RGN DPS SUB UPG KNO BPN PEN BKI
KCH CEB DVO POM GUM KIX ITM NGO FUK CTS OKA GMP PUS CJU TSN WUH CSX HGH NKG XMN
TAO DLC SHE HRB CGO KWE NNG HAK SYX URC LHW BNE PER ADL OOL CNS CBR AKL WLG CHC
ZQN NAN PPT NOU GDL MTY TIJ HAV SDQ PUJ SJU KIN GUA SAL SJO MDE CLO CTG UIO GYE
CUZ VVI LPB ASU MVD EZE COR CNF SSA REC FOR POA CWB FLN BEL MAO YEG YOW YWG YHZ
`

/** The busiest airports of the reference data, at most `count`; equal seeds give equal lists. */
export function busiestAirports(count: number, seed: number): Airport[] {
  const random = randomFrom(seed)
  const large = LARGE.trim()
    .split(/\s+/)
    .flatMap(code => airport(code) ?? [])
  const named = new Set(large)
  const others = airports()
    .filter(a => a.served && !named.has(a))
    .map(a => ({ airport: a, rank: random() + smallness(a, large) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ airport }) => airport)
  return [...new Set([...large, ...others])].slice(0, count)
}

/** Guessed from the name, and from how far the large airports are: 0 likely busy, above 1 hardly. */
function smallness(place: Airport, large: readonly Airport[]): number {
  let nearby = 0
  for (const hub of large) {
    if (greatCircleKm(place.latitude, place.longitude, hub.latitude, hub.longitude) < 1500) nearby++
  }
  return (/international/i.test(place.name) ? 0 : 0.5) + 1.5 / (1 + nearby / 10)
}
