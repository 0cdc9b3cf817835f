import { dateOf } from '../travel/time.ts'

/** Invented units of each currency for one euro: rounded so far that nobody takes them for a market's. */
const PER_EURO: Readonly<Record<string, string>> = {
  USD: '1.10',
  JPY: '160',
  CZK: '25',
  DKK: '7.50',
  GBP: '0.85',
  HUF: '400',
  PLN: '4.30',
  RON: '5',
  SEK: '11',
  CHF: '0.95',
  ISK: '150',
  NOK: '11.50',
  TRY: '45',
  AED: '4',
  AUD: '1.70',
  BRL: '6',
  CAD: '1.50',
  CNY: '8',
  HKD: '8.50',
  IDR: '18000',
  ILS: '4',
  INR: '95',
  KRW: '1500',
  MXN: '20',
  MYR: '5',
  NZD: '1.85',
  PHP: '65',
  SGD: '1.45',
  THB: '38',
  ZAR: '20',
}

/**
 * Demo exchange rates as of `today` (a day number of travel/time), in the format of the European Central Bank's daily file, so that they are
 * imported as real ones are; the importer says that the provider is `demo`.
 */
export function demoRates(today: number): string {
  const rates = Object.entries(PER_EURO)
    .map(([currency, rate]) => `\t\t\t<Cube currency='${currency}' rate='${rate}'/>`)
    .join('\n')
  return `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
	<gesmes:subject>Invented demonstration rates</gesmes:subject>
	<gesmes:Sender>
		<gesmes:name>demo</gesmes:name>
	</gesmes:Sender>
	<Cube>
		<Cube time='${dateOf(today)}'>
${rates}
		</Cube>
	</Cube>
</gesmes:Envelope>
`
}
