import type { AccountId } from '../id.ts'
import { inForceEverywhere } from '../partner/keyring.ts'
import { approveAccount, createAccount } from '../partner/onboard.ts'
import { selectAccounts } from '../partner/store.ts'
import {
  type Command,
  choice,
  columns,
  faulty,
  noPositionals,
  onlyPositional,
  requiredText,
  text,
} from './command.ts'

const create: Command = {
  name: 'account create',
  usage: '--name NAME --plan enterprise|developer [--currency USD] [--unapproved]',
  summary:
    "Open an account, approved for live unless --unapproved; its currency is the region's unless given",
  options: {
    name: { type: 'string' },
    plan: { type: 'string' },
    currency: { type: 'string' },
    unapproved: { type: 'boolean' },
  },
  async run({ database, region, settings }, args) {
    noPositionals(args)
    const name = requiredText(args, 'name', 'give the name of the partner')
    const plan = choice(args, 'plan', ['enterprise', 'developer'] as const)
    const currency = text(args, 'currency')?.toUpperCase() ?? settings.regions[region]?.currency
    if (currency === undefined)
      throw faulty('--currency', 'is missing; this process does not serve the region, so give one')
    const liveApproved = args.values.unapproved !== true
    const account = await createAccount(
      { database, region },
      { name, plan, currency, liveApproved },
      Date.now(),
    )
    const approval = liveApproved
      ? 'approved for live'
      : `not approved for live; run: account approve ${account.id}`
    return {
      json: { accountId: account.id },
      text: `${account.id}  ${account.name} (${plan}, ${currency}, ${approval})`,
    }
  },
}

const approve: Command = {
  name: 'account approve',
  usage: 'ACCOUNTID',
  summary: "Let the account's live keys in",
  options: {},
  async run({ database, region }, args) {
    const accountId = onlyPositional(args, 'ACCOUNTID', 'give an account id such as acc_…') as AccountId
    await approveAccount({ database, region }, accountId, Date.now())
    // Until then a running server may still answer `forbidden`, and a script goes on to use the key.
    await inForceEverywhere()
    return { json: { accountId, liveApproved: true }, text: `${accountId} is approved for live.` }
  },
}

const list: Command = {
  name: 'account list',
  usage: '',
  summary: 'List the accounts of the region',
  options: {},
  async run({ database, region }, args) {
    noPositionals(args)
    const accounts = await selectAccounts(database, region)
    return {
      json: {
        accounts: accounts.map(({ id, name, plan, currency, liveApproved }) => ({
          accountId: id,
          name,
          plan,
          currency,
          liveApproved,
        })),
      },
      text: columns(
        ['ACCOUNT', 'PLAN', 'CURRENCY', 'LIVE', 'NAME'],
        accounts.map(({ id, name, plan, currency, liveApproved }) => [
          id,
          plan,
          currency,
          liveApproved ? 'yes' : 'no',
          name,
        ]),
      ),
    }
  },
}

/** `airside account …` */
export const commands: readonly Command[] = [create, approve, list]
