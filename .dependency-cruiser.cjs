/** The arrows of ARCHITECTURE.md as rules. A rule forbids what it describes. */
const room = '^src/(partner|supplier|offer|booking|ledger|webhook)/'
const tests = '\\.test\\.ts$'

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'nothing-imports-the-roof',
      severity: 'error',
      from: {
        path: `${room}|^src/(api|worker|timetable|travel|db)/|^src/(log|metrics|refusal|id|secret|settings)\\.ts$`,
        pathNot: tests,
      },
      to: {
        path: '^src/(main|thread|threads|follow|databases|messages|pulse|welcome)\\.ts$|^src/(cli|demo)/',
      },
    },
    {
      name: 'doors-know-no-other-door-and-no-engine',
      severity: 'error',
      from: { path: '^src/(api|worker)/', pathNot: tests },
      to: { path: '^src/(api|worker|timetable)/', pathNot: '^src/$1/' },
    },
    {
      name: 'rooms-know-no-door',
      severity: 'error',
      from: { path: room, pathNot: tests },
      to: { path: '^src/(api|worker)/' },
    },
    {
      name: 'booking-knows-offer-seal-supplier-port-ledger-partner-types',
      severity: 'error',
      from: { path: '^src/booking/', pathNot: tests },
      to: {
        path: room,
        pathNot:
          '^src/(booking/|ledger/|webhook/(publish|event)\\.ts|supplier/supplier\\.ts|offer/(seal|offer)\\.ts|partner/account\\.ts)',
      },
    },
    {
      name: 'offer-knows-supplier-port-and-partner-types',
      severity: 'error',
      from: { path: '^src/offer/', pathNot: tests },
      to: { path: room, pathNot: '^src/(offer/|supplier/supplier\\.ts|partner/account\\.ts)' },
    },
    {
      name: 'supplier-knows-no-other-room',
      severity: 'error',
      from: { path: '^src/supplier/', pathNot: tests },
      to: { path: room, pathNot: '^src/supplier/' },
    },
    {
      name: 'ledger-and-partner-know-no-other-room',
      severity: 'error',
      from: { path: '^src/(ledger|partner)/', pathNot: tests },
      to: { path: room, pathNot: '^src/$1/|^src/supplier/supplier\\.ts|^src/partner/account\\.ts' },
    },
    {
      name: 'webhook-knows-partner-types',
      severity: 'error',
      from: { path: '^src/webhook/', pathNot: tests },
      to: { path: room, pathNot: '^src/webhook/|^src/supplier/supplier\\.ts|^src/partner/account\\.ts' },
    },
    {
      name: 'confined-undici',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/webhook/delivery/|${tests}` },
      to: { path: '^node_modules/undici/' },
    },
    {
      name: 'the-engine-stands-on-words-only',
      severity: 'error',
      from: { path: '^src/timetable/', pathNot: tests },
      to: { path: '^src/', pathNot: '^src/(timetable|travel)/' },
    },
    {
      name: 'the-words-stand-on-nothing',
      severity: 'error',
      from: { path: '^src/travel/', pathNot: tests },
      to: { pathNot: '^src/travel/' },
    },
    {
      name: 'pure-files-do-no-input-or-output',
      severity: 'error',
      from: { path: '^src/(travel|timetable)/', pathNot: tests },
      to: { dependencyTypes: ['core', 'npm'] },
    },
    {
      name: 'the-database-room-knows-no-room',
      severity: 'error',
      from: { path: '^src/db/', pathNot: tests },
      to: { path: '^src/', pathNot: '^src/(db/|log\\.ts|id\\.ts|settings\\.ts)' },
    },
    {
      name: 'confined-pg',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/db/|${tests}` },
      to: { path: '^node_modules/pg/' },
    },
    {
      name: 'confined-fastify',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/(api/|thread\\.ts)|${tests}` },
      to: { path: '^node_modules/fastify/' },
    },
    {
      name: 'confined-nodemailer',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/booking/confirmation/send\\.ts|${tests}` },
      to: { path: '^node_modules/nodemailer/' },
    },
    {
      name: 'no-test-code-in-the-product',
      severity: 'error',
      from: { path: '^src/', pathNot: tests },
      to: { path: '^(test|bench|scripts)/' },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'] },
  },
}
