import { Refusal } from '../refusal.ts'
import { enable } from '../webhook/enable.ts'
import type { Owner, Webhook } from '../webhook/endpoint.ts'
import { DELIVERY_STATES, type Delivery } from '../webhook/history/delivery.ts'
import { listDeliveries } from '../webhook/history/read.ts'
import { recover } from '../webhook/resend/recover.ts'
import { ownerOfEndpoint, selectEndpointsOfAccount } from '../webhook/store.ts'
import {
  type Arguments,
  type Command,
  type CommandContext,
  choice,
  columns,
  faulty,
  noPositionals,
  onlyPositional,
  requiredText,
  text,
} from './command.ts'

const REMEDY = 'give the id of a webhook, such as whk_… (see: webhook list)'
/** Deliveries shown. */
const SHOWN = 25
const SHOWN_MAX = 500

/** `airside webhook …` */
export const commands: readonly Command[] = [
  {
    name: 'webhook list',
    usage: '--account ID',
    summary: 'List the webhooks of an account and how they fare',
    options: { account: { type: 'string' } },
    async run({ database }, args) {
      noPositionals(args)
      const account = requiredText(args, 'account', 'give an account id such as acc_… (see: account list)')
      const webhooks = await selectEndpointsOfAccount(database, account)
      return {
        json: { webhooks: webhooks.map(toJson) },
        text: columns(
          ['WEBHOOK', 'MODE', 'STATE', 'LAST SUCCESS', 'EVENTS', 'URL'],
          webhooks.map(one => [
            one.id,
            one.mode,
            one.state === 'open' ? 'active' : `disabled (${one.disabledReason})`,
            one.lastSuccessAt?.toISOString() ?? 'never',
            one.events.map(type => type.replace('booking.', '')).join(','),
            one.url,
          ]),
        ),
      }
    },
  },
  {
    name: 'webhook deliveries',
    usage: `ID [--state ${DELIVERY_STATES.join('|')}] [--limit ${SHOWN}]`,
    summary: 'Show what a webhook is owed and was sent: every attempt, where its time went, what came back',
    options: { state: { type: 'string' }, limit: { type: 'string' } },
    async run(context, args) {
      const id = onlyPositional(args, 'ID', REMEDY)
      const state = text(args, 'state') === undefined ? undefined : choice(args, 'state', DELIVERY_STATES)
      const owner = await ownerOf(context, id)
      const { deliveries, nextCursor } = await listDeliveries(context, owner, id, state, {
        limit: limitOf(args),
        cursor: undefined,
      })
      const more = nextCursor === undefined ? [] : ['… and more: raise --limit']
      return {
        json: { webhookId: id, deliveries: deliveries.map(deliveryJson), more: nextCursor !== undefined },
        text: deliveries.length === 0 ? 'Nothing yet.' : [...deliveries.flatMap(tell), ...more].join('\n'),
      }
    },
  },
  {
    name: 'webhook enable',
    usage: 'ID',
    summary: 'Open a disabled webhook again; what it missed is sent by: webhook recover',
    options: {},
    async run(context, args) {
      const id = onlyPositional(args, 'ID', REMEDY)
      const { webhook, missedSince } = await enable(context, await ownerOf(context, id), id)
      const since = missedSince?.toISOString()
      return {
        json: { ...toJson(webhook), missedSince: since ?? null },
        text:
          since === undefined
            ? `${id} is active; it was not disabled.`
            : `${id} is active. To send what it missed: webhook recover ${id} --since ${since}`,
      }
    },
  },
  {
    name: 'webhook recover',
    usage: 'ID --since INSTANT [--until INSTANT] [--dry-run]',
    summary: 'Send what a webhook has not got of a window, paced; --dry-run only counts',
    options: { since: { type: 'string' }, until: { type: 'string' }, 'dry-run': { type: 'boolean' } },
    async run(context, args) {
      const id = onlyPositional(args, 'ID', REMEDY)
      const window = { since: instantOf(args, 'since'), until: instantOf(args, 'until', new Date()) }
      const dryRun = args.values['dry-run'] === true
      const { counts, queued, more } = await recover(context, await ownerOf(context, id), id, window, dryRun)
      const did = dryRun ? 'would be sent' : 'are sent'
      return {
        json: { webhookId: id, dryRun, counts, queued, more },
        text: [
          `${queued} of the window ${did} again${more ? '; the window holds more, so call again' : ''}.`,
          ...Object.entries(counts).map(([state, count]) => `  ${String(count).padStart(7)}  ${state}`),
        ].join('\n'),
      }
    },
  },
]

/** @throws Refusal not_found */
async function ownerOf({ database }: CommandContext, id: string): Promise<Owner> {
  const owner = await ownerOfEndpoint(database, id)
  if (owner === undefined) throw new Refusal('not_found', `There is no webhook ${id} in this region.`)
  return owner
}

function limitOf(args: Arguments): number {
  const typed = text(args, 'limit') ?? String(SHOWN)
  const limit = /^\d{1,4}$/.test(typed) ? Number(typed) : 0
  if (limit >= 1 && limit <= SHOWN_MAX) return limit
  throw faulty('--limit', `cannot be ${JSON.stringify(typed)}; give a number from 1 to ${SHOWN_MAX}`)
}

function instantOf(args: Arguments, option: string, fallback?: Date): Date {
  const remedy = 'give an instant such as 2026-11-21T10:15:00Z'
  if (fallback !== undefined && text(args, option) === undefined) return fallback
  const typed = requiredText(args, option, remedy)
  const at = new Date(typed)
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d.*(Z|[+-]\d\d:\d\d)$/.test(typed) && !Number.isNaN(at.getTime())) return at
  throw faulty(`--${option}`, `cannot be ${JSON.stringify(typed)}; ${remedy}`)
}

function toJson(webhook: Webhook): object {
  return {
    webhookId: webhook.id,
    accountId: webhook.accountId,
    mode: webhook.mode,
    url: webhook.url,
    events: webhook.events,
    webhookStatus: webhook.state === 'open' ? 'active' : 'disabled',
    disabledReason: webhook.disabledReason ?? null,
    lastSuccessAt: webhook.lastSuccessAt?.toISOString() ?? null,
    failingSince: webhook.failingSince?.toISOString() ?? null,
    createdAt: webhook.createdAt.toISOString(),
  }
}

/** Answers stay with the partner: an operator sees how long they were. */
function deliveryJson(delivery: Delivery): object {
  return {
    eventId: delivery.eventId,
    event: delivery.type,
    bookingId: delivery.bookingId ?? null,
    redelivery: delivery.series,
    deliveryStatus: delivery.state,
    nextAttemptAt: delivery.nextAttemptAt?.toISOString() ?? null,
    attempts: delivery.attempts.map(({ answer, startedAt, ...attempt }) => ({
      ...attempt,
      startedAt: startedAt.toISOString(),
      answerBytes: answer?.length ?? 0,
    })),
  }
}

function tell(delivery: Delivery): string[] {
  const again = delivery.series === 0 ? '' : `, redelivery ${delivery.series}`
  const next = delivery.nextAttemptAt === undefined ? '' : `, next ${delivery.nextAttemptAt.toISOString()}`
  return [
    `${delivery.eventId}  ${delivery.type}  ${delivery.state}${again}${next}`,
    ...delivery.attempts.map(attempt => {
      const phases = [
        ['dns', attempt.dnsMs],
        ['connect', attempt.connectMs],
        ['tls', attempt.tlsMs],
        ['headers', attempt.headersMs],
      ] as const
      const spent = phases.flatMap(([name, ms]) => (ms === undefined ? [] : [`${name} ${ms.toFixed(1)} ms`]))
      const outcome = attempt.reason ?? 'ok'
      return `  ${attempt.n}  ${attempt.startedAt.toISOString()}  ${attempt.status ?? '---'}  ${outcome}${spent.length === 0 ? '' : `  (${spent.join(', ')})`}`
    }),
  ]
}
