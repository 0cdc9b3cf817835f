import { isId } from '../id.ts'
import { selectRequest } from '../partner/store.ts'
import { Refusal } from '../refusal.ts'
import { type Command, instant, onlyPositional } from './command.ts'

/** What is known of an answered request, for a partner who quotes its id. */
export const commands: readonly Command[] = [
  {
    name: 'request show',
    usage: 'REQUESTID',
    summary: 'Show what a request was answered, by the requestId a partner quotes; kept for 30 days',
    options: {},
    async run({ database }, args) {
      const id = onlyPositional(args, 'REQUESTID', 'give the requestId of an answer, such as req_…')
      const entry = isId('req', id) ? await selectRequest(database, id) : undefined
      if (entry === undefined) {
        throw new Refusal(
          'not_found',
          `Request ${id} is not in this region's log; lines are written within a second and kept for 30 days.`,
        )
      }
      const { at, ...rest } = entry
      const who =
        entry.accountId === undefined
          ? 'nobody admitted'
          : `${entry.accountId}, ${entry.keyId}, ${entry.mode}`
      const what = `${entry.method} ${entry.route} → ${entry.status}${entry.code === undefined ? '' : ` ${entry.code}`}`
      return {
        json: { at: instant(at), ...rest },
        text: `${instant(at)}  ${what}  ${entry.durationMs} ms\n  ${who}`,
      }
    },
  },
]
