/** Reads query parameters strictly: a misspelled filter must not silently list everything. */
import { cut } from '../core/run/records.ts';
import { type QueryTable, type QueryValues, refuse } from './parameters.ts';

const MAX_VALUE_CHARS = 2_000;
/** Longest parameter name shown in a response. */
const NAME_CHARS = 100;

/** Parameters of a request, as they were sent. */
export type SentQuery = { readonly [name: string]: string | undefined };

/** @throws CairnError INVALID_INPUT for an unknown, repeated, empty or overlong parameter, or one that is not UTF-8 */
export function sentQuery(url: string, known: QueryTable): SentQuery {
  const query: { [name: string]: string } = {};
  const { search, searchParams } = new URL(url);
  assertUtf8(search);
  for (const [name, value] of searchParams) {
    const shown = cut(name, NAME_CHARS);
    if (!Object.hasOwn(known, name))
      refuse(shown, `is unknown; use ${Object.keys(known).join(', ') || 'none'}`);
    if (query[name] !== undefined) refuse(shown, 'is given twice');
    if (value === '') refuse(shown, 'is empty');
    if (value.length > MAX_VALUE_CHARS) refuse(shown, `is longer than ${MAX_VALUE_CHARS} characters`);
    query[name] = value;
  }
  return query;
}

/** `URLSearchParams` would replace bytes that are not UTF-8, and the filter would match other runs. */
function assertUtf8(search: string): void {
  for (const parameter of search.slice(1).split('&')) {
    try {
      // A `%` that begins no escape stands for itself.
      decodeURIComponent(parameter.replace(/%(?![\dA-Fa-f]{2})/g, '%25'));
    } catch {
      refuse(cut(parameter.split('=', 1)[0] as string, NAME_CHARS), 'is not percent-encoded UTF-8');
    }
  }
}

/** The values of all parameters of a table. @throws CairnError INVALID_INPUT */
export function queryValues<Table extends QueryTable>(sent: SentQuery, table: Table): QueryValues<Table> {
  const values = Object.entries(table).map(([name, { read }]) => [name, read(sent[name], name)]);
  return Object.fromEntries(values) as QueryValues<Table>;
}
