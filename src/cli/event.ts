import { Refusal } from '../refusal.ts'
import { ownerOfEvent } from '../webhook/history/store.ts'
import { redeliver } from '../webhook/resend/redeliver.ts'
import { type Command, onlyPositional, text } from './command.ts'

/** `airside event …` */
export const commands: readonly Command[] = [
  {
    name: 'event redeliver',
    usage: 'ID [--webhook ID]',
    summary: 'Send an event again, the same bytes, to all webhooks that ask for its type or to one',
    options: { webhook: { type: 'string' } },
    async run({ database }, args) {
      const id = onlyPositional(args, 'ID', 'give the id of an event, such as evt_…')
      const owner = await ownerOfEvent(database, id)
      if (owner === undefined) throw new Refusal('not_found', `There is no event ${id} in this region.`)
      const redeliveries = await redeliver({ database }, owner, id, text(args, 'webhook'))
      const lines = redeliveries.map(
        ({ webhookId, queued }) => `  ${webhookId}  ${queued ? 'queued' : 'still being tried from before'}`,
      )
      return {
        json: {
          eventId: id,
          redeliveries: redeliveries.map(({ webhookId, queued }) => ({ webhookId, queued })),
        },
        text:
          redeliveries.length === 0
            ? `No active webhook asks for ${id}.`
            : [`${id} is sent again:`, ...lines].join('\n'),
      }
    },
  },
]
