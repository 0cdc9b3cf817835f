import { createHash } from 'node:crypto'
import type { Settings } from '../../settings.ts'
import { errorGuide, type Guide, ruleGuides, startGuides } from './guides.ts'
import { safe } from './markup.ts'
import { codeTable, operationSection, operationsOf, type Placed, serviceSection, verb } from './sections.ts'
import type { OpenApi } from './shapes.ts'
import { STYLE } from './style.ts'
import { webhookGuides } from './webhook-guides.ts'

/** The reference as one page of HTML, with the headers that let it do nothing but show itself. */
export function docsPage(
  document: OpenApi,
  settings: Settings,
): { html: string; headers: Record<string, string> } {
  const start = startGuides(document, settings)
  const rules = ruleGuides(settings)
  const webhooks = webhookGuides(settings)
  const keyed = operationsOf(document).filter(({ operation }) => operation.security === undefined)
  const open = operationsOf(document).filter(({ operation }) => operation.security !== undefined)
  const title = `${settings.brand} API`
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${safe(title)} reference</title><meta name="description" content="${safe(document.info.description)}">
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON.replace('<svg', '<svg xmlns="http://www.w3.org/2000/svg" fill="#0b5fa5"'))}">
<style>${STYLE}</style></head><body>
<a class="skip" href="#top">Skip to the content</a>
<div class="page">
<nav aria-label="Contents"><a class="brand" href="#top">${ICON}<span>${safe(title)}</span></a>
${menu('Start', start)}${operationMenu('Calls', keyed)}${menu('Rules', rules)}${menu('Webhooks', webhooks)}${menu('Errors', [{ id: 'errors', title: 'Error codes', html: '' }])}${menu('Service', [{ id: 'service', title: 'Health and documents', html: '' }])}</nav>
<main id="top"><h1>${safe(title)}</h1>
<p class="lead">${safe(document.info.description)} Plain JSON over HTTPS, described by <a href="/v1/openapi.json">one OpenAPI document</a>, from which this page is made.</p>
${start.map(section).join('')}
${keyed.map(placed => operationSection(document, placed)).join('')}
${rules.map(section).join('')}
${webhooks.map(section).join('')}
<section id="errors"><h2>Error codes</h2>${errorGuide()}${codeTable()}</section>
${serviceSection(open)}
<footer>${safe(title)}, version ${safe(document.info.version)}</footer>
</main></div></body></html>`
  return { html, headers: HEADERS }
}

/** Only this style sheet, by its hash; nothing is loaded, run, framed or sent. */
const HEADERS: Record<string, string> = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

const ICON =
  '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M2.6 13.2 4 12.4l2.6 1 4.5-2.6-5.6-6 1.9-1.1 8.2 4.4 3.9-2.2c1-.6 2.2-.2 2.6.6.5.8.2 2-.8 2.6L6.5 17.4zM3 20h18v1.6H3z"/></svg>'

const section = ({ id, title, html }: Guide) => `<section id="${id}"><h2>${safe(title)}</h2>${html}</section>`

function menu(title: string, guides: readonly Guide[]): string {
  const items = guides.map(guide => `<li><a href="#${guide.id}">${safe(guide.title)}</a></li>`)
  return `<h2>${title}</h2><ul>${items.join('')}</ul>`
}

function operationMenu(title: string, operations: readonly Placed[]): string {
  const items = operations.map(
    ({ method, operation }) =>
      `<li><a href="#${operation.operationId}">${verb(method)}${safe(operation.summary)}</a></li>`,
  )
  return `<h2>${title}</h2><ul>${items.join('')}</ul>`
}
