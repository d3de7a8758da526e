/** Parses orders in the text format of ListDocuments: `priority desc, __name__ desc`. */
import { parseFieldPath } from '../model/field-path.ts';
import type { FieldOrder } from '../model/query/query.ts';
import { invalid } from '../model/status.ts';

/** A name in back-ticks may contain anything; a plain one ends at a space or a comma. */
const ITEM = /\s*((?:`(?:\\.|[^`\\])*`|[^\s,`])+)(?:\s+(asc|desc))?\s*(,|$)/iy;

/** An empty text has no orders. @throws INVALID_ARGUMENT if the text is not a list of orders */
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
