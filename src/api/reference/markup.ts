/** Text made safe for HTML. */
export function safe(text: string): string {
  return text.replace(/[&<>"']/g, sign => ENTITIES[sign]!)
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** A sentence in which `backticks` mark code, as HTML. */
export function prose(text: string): string {
  return safe(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

/** A table with a head; cells are HTML. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: string, row: readonly string[]) => row.map(cell => `<${tag}>${cell}</${tag}>`).join('')
  const body = rows.map(row => `<tr>${cells('td', row)}</tr>`).join('')
  return `<div class="wide" tabindex="0"><table><thead><tr>${cells('th', head)}</tr></thead><tbody>${body}</tbody></table></div>`
}

/** A block of code under a small title. */
export function block(title: string, code: string): string {
  return `<figure><figcaption>${safe(title)}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`
}

/** A JSON value over several lines, its parts coloured. Short lists and objects stay on one line. */
export function json(value: unknown): string {
  return write(value, '')
}

const LINE_MAX = 72

function write(value: unknown, indent: string): string {
  if (typeof value === 'string') return `<span class="s">${safe(JSON.stringify(value))}</span>`
  if (typeof value !== 'object' || value === null)
    return `<span class="n">${safe(JSON.stringify(value))}</span>`
  const list = Array.isArray(value)
  const entries = Object.entries(value).map(
    ([key, inner]) =>
      (list ? '' : `<span class="k">${safe(JSON.stringify(key))}</span>: `) + write(inner, `${indent}  `),
  )
  const [open, close] = list ? ['[', ']'] : ['{', '}']
  if (JSON.stringify(value).length + indent.length <= LINE_MAX) {
    const gap = list || entries.length === 0 ? '' : ' '
    return open + gap + entries.join(', ') + gap + close
  }
  return `${open}\n${entries.map(entry => `${indent}  ${entry}`).join(',\n')}\n${indent}${close}`
}
