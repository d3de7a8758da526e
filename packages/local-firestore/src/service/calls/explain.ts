/** Query explain: the indexes that a query uses, and its cost. Only reports; reads nothing. */
import type { Bill } from '../../model/query/bill.ts';
import { disjunctions } from '../../model/query/disjunctions.ts';
import { planQuery } from '../../model/query/plan.ts';
import type { Query } from '../../model/query/query.ts';
import { indexText, nameIndex, vectorIndexText } from '../../model/query/used-index.ts';
import { vectorIndexFor } from '../../model/query/vector-choice.ts';
import type { Database } from '../database.ts';

/** `google.firestore.v1.ExplainOptions` */
export interface ExplainOptions {
  readonly analyze?: boolean | null;
}

/** True if the query must be planned but not run. */
export function isPlanOnly(options: ExplainOptions | null | undefined): boolean {
  return options !== null && options !== undefined && !options.analyze;
}

/** `google.firestore.v1.PlanSummary`. @throws FAILED_PRECONDITION when an index is missing */
export function planSummary(database: Database, query: Query): object {
  const branches = planQuery(query, database.planned);
  const used =
    vectorIndexes(database, query) ??
    branches.map(({ source }) => indexText('index' in source ? source.index : nameIndex(false)));
  const scope = query.scope.allDescendants ? 'Collection group' : 'Collection';
  return {
    indexesUsed: [...new Set(used)].map((properties) => struct({ query_scope: scope, properties })),
  };
}

/** Vector indexes of a search: the declared ones, or those that production would need. */
function vectorIndexes({ indexes }: Database, query: Query): string[] | undefined {
  const { nearest } = query;
  if (!nearest) return undefined;
  return disjunctions(query.filter).map((conjunction) => {
    return vectorIndexText(vectorIndexFor(indexes, { ...query, nearest }, conjunction));
  });
}

interface Execution {
  readonly returned: number;
  /** Index entries read, billed or not. */
  readonly entries: number;
  readonly bill: Bill;
  readonly durationMs: number;
}

/** `google.firestore.v1.ExecutionStats`, with the debugging members of production's report reference. */
export function executionStats({ returned, entries, bill, durationMs }: Execution): object {
  return {
    resultsReturned: returned,
    executionDuration: duration(durationMs),
    readOperations: bill.reads,
    debugStats: struct({
      index_entries_scanned: String(entries),
      documents_scanned: String(bill.documents),
      billing_details: {
        documents_billable: String(bill.documents),
        index_entries_billable: String(bill.entries),
        min_query_cost: String(bill.minimum),
        small_ops: '0',
      },
    }),
  };
}

/** Never zero: some clients treat a zero duration as missing. */
function duration(ms: number): { seconds: number; nanos: number } {
  const nanos = Math.max(1, Math.round(ms * 1e6));
  return { seconds: Math.floor(nanos / 1e9), nanos: nanos % 1e9 };
}

type ExplainJson = string | { readonly [key: string]: ExplainJson };

/** `google.protobuf.Struct` */
function struct(object: { readonly [key: string]: ExplainJson }): object {
  const fields = Object.entries(object).map(([key, value]) => [
    key,
    typeof value === 'string' ? { stringValue: value } : { structValue: struct(value) },
  ]);
  return { fields: Object.fromEntries(fields) };
}
