/** Orders written as a text, as ListDocuments takes them: `priority desc, __name__ desc`. */
import { parseFieldPath } from '../model/field-path.ts';
import type { FieldOrder } from '../model/query/query.ts';
import { invalid } from '../model/status.ts';

/** A name between back-ticks holds anything; a plain one ends at a space or a comma. */
const ITEM = /\s*((?:`(?:\\.|[^`\\])*`|[^\s,`])+)(?:\s+(asc|desc))?\s*(,|$)/iy;

/** @throws INVALID_ARGUMENT when the text is no list of orders; no text is no order */
export function parseOrders(text: string): FieldOrder[] {
  const orders: FieldOrder[] = [];
  if (text.trim() === '') return orders;
  ITEM.lastIndex = 0;
  for (;;) {
    const [, path, direction = 'asc', separator] = ITEM.exec(text) ?? [];
    if (path === undefined) throw invalid(`Invalid order by clause "${text}".`);
    orders.push({ field: parseFieldPath(path), descending: direction.toLowerCase() === 'desc' });
    if (separator === '') return orders;
  }
}
