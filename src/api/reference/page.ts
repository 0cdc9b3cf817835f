import type { Settings } from '../../settings.ts'
import type { OpenApi } from './shapes.ts'
export function docsPage(_d: OpenApi, _s: Settings): { html: string; headers: Record<string, string> } {
  return { html: '', headers: {} }
}
