import { readDemoFile } from '../demo/accounts.ts'
import { Refusal, type RefusalCode } from '../refusal.ts'
import { type Arguments, faulty, type RemoteContext, requiredText, text } from './command.ts'

/** A server as a partner's program sees it: nothing but an address and a key. */
export type PartnerApi = { url: string; key: string }

const CALL_WITHIN_MS = 30_000

/** Options of all commands that call a server. */
export const API_OPTIONS = { key: { type: 'string' }, url: { type: 'string' } } as const

/**
 * Which server, and with which key: `--url`, else the one that `demo.json` names, else the port in the settings.
 * @throws Refusal unless the key is a test key
 */
export function apiOf({ settings, region }: RemoteContext, args: Arguments): PartnerApi {
  const remedy = `give a test key such as ${settings.keyPrefix}_test_…`
  const key = requiredText(args, 'key', remedy).trim()
  if (!/^[a-z]+_test_/.test(key)) throw faulty('--key', `must be a test key; ${remedy}`)
  const own = `http://${settings.host}:${settings.regions[region]?.port}/v1`
  const url = text(args, 'url') ?? readDemoFile(settings.dataDir)[region]?.baseUrl ?? own
  return { url: httpUrl('--url', url).replace(/\/$/, ''), key }
}

/** @throws Refusal unless a text is an address to call */
export function httpUrl(param: string, given: string): string {
  if (URL.canParse(given) && /^https?:$/.test(new URL(given).protocol)) return given
  throw faulty(
    param,
    `cannot be ${JSON.stringify(given)}; give an address such as http://localhost:3000/hook`,
  )
}

/**
 * Calls the server with JSON and gives its answer.
 * @throws Refusal as the server refused, or service_unavailable when it cannot be reached
 */
export async function call<T>(api: PartnerApi, method: string, path: string, body?: object): Promise<T> {
  const response = await reach(api, path, {
    method,
    headers: {
      authorization: `Bearer ${api.key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(CALL_WITHIN_MS),
  })
  if (!response.ok) throw await refusalOf(response)
  return (await response.json()) as T
}

/** @throws Refusal service_unavailable when nobody answers */
export async function reach(api: PartnerApi, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(api.url + path, init)
  } catch (error) {
    if (init.signal?.aborted === true && (error as Error).name === 'AbortError') throw error
    throw new Refusal('service_unavailable', `${api.url} cannot be reached; is the server running?`)
  }
}

/** The refusal that an answer tells of. */
export async function refusalOf(response: Response): Promise<Refusal> {
  const answer = (await response.json().catch(() => undefined)) as
    | { error?: { code?: RefusalCode; message?: string } }
    | undefined
  return new Refusal(
    answer?.error?.code ?? 'service_unavailable',
    answer?.error?.message ?? `The server answered ${response.status}.`,
  )
}
