/** Lints the OpenAPI document that the server would serve. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { openApiDocument } from '../src/api/openapi.ts'
import { readSettings } from '../src/settings.ts'

const document = openApiDocument(readSettings({}))
const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)))
if (!valid) {
  console.error(JSON.stringify(errors, null, 2))
  process.exit(1)
}
console.log(`OpenAPI ${document.openapi}: ${Object.keys(document.paths ?? {}).length} paths, valid`)
