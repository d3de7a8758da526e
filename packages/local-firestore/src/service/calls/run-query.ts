/** RunQuery: matching documents in order, or the nearest to a vector, with the query's statistics on request. */

import { performance } from 'node:perf_hooks';
import { fromMicros } from '@cairn/local-kit/wire/timestamp';
import { project, withField } from '../../model/field-path.ts';
import { type Bill, billOf } from '../../model/query/bill.ts';
import { neighbourhood } from '../../model/query/nearest.ts';
import type { Query } from '../../model/query/query.ts';
import { invalid } from '../../model/status.ts';
import { encodeBody, encodeDocument } from '../../wire/document-codec.ts';
import type { WireQuery } from '../../wire/query-codec.ts';
import { decodeSearch } from '../../wire/search-codec.ts';
import { runOf } from '../metering.ts';
import { type QueryRead, readQuery } from '../query-read.ts';
import type { QueriedDocument } from '../query-runner.ts';
import type { CallContext } from './call.ts';
import { reading, type SelectedConsistency, type WireConsistency } from './consistency.ts';
import { type ExplainOptions, executionStats, isPlanOnly, planSummary } from './explain.ts';
import { encodeFound } from './read.ts';

interface RunQueryRequest extends WireConsistency {
  readonly parent: string;
  readonly structuredQuery?: WireQuery | null;
  readonly explainOptions?: ExplainOptions | null;
}

/** A document of the answer, with the distance if a search requested it. */
interface AnsweredDocument {
  readonly found: QueriedDocument;
  readonly distance: number | undefined;
}

export async function runQuery(
  request: RunQueryRequest,
  { store, meter }: CallContext,
): Promise<Iterable<object>> {
  if (!request.structuredQuery) throw invalid('only structured queries are supported');
  const query = decodeSearch(request.parent, request.structuredQuery);
  const { database, collectionId } = query.scope;
  return reading(store, { database, wire: request }, async (selected) => {
    const plan = request.explainOptions && planSummary(store.databases.get(database), query);
    if (plan && isPlanOnly(request.explainOptions)) {
      meter.otherReads('RunQuery', collectionId, 1);
      return [...begun(selected), { explainMetrics: { planSummary: plan } }];
    }
    const startedAt = performance.now();
    const read = await readQuery(store, selected, query);
    const { shown, bill } = resultOf(query, read);
    for (const { found } of shown) meter.read('RunQuery', found.name, runOf(found.name, found.fields));
    meter.otherReads('RunQuery', collectionId, bill.reads - shown.length);
    const stats = plan && {
      planSummary: plan,
      executionStats: executionStats({
        returned: shown.length,
        entries: read.entries,
        bill,
        durationMs: performance.now() - startedAt,
      }),
    };
    const { skipped } = read;
    return answers(query, { selected, shown, skipped, readTime: fromMicros(read.readTime), stats });
  });
}

function resultOf(query: Query, read: QueryRead): { shown: readonly AnsweredDocument[]; bill: Bill } {
  const { found, skipped, entries } = read;
  if (!query.nearest) {
    const bill = billOf(query, { returned: found.length, skipped, entries });
    return { shown: found.map((f) => ({ found: f, distance: undefined })), bill };
  }
  const { neighbours, compared } = neighbourhood(query.nearest, found);
  const bill = billOf(query, { returned: neighbours.length, skipped: 0, entries: compared });
  return { shown: neighbours, bill };
}

interface QueryAnswer {
  readonly selected: SelectedConsistency;
  readonly shown: readonly AnsweredDocument[];
  /** Number of documents skipped by the offset; sent with the first message. */
  readonly skipped: number;
  readonly readTime: object;
  /** Sent with the last message. */
  readonly stats: object | null | undefined;
}

function* answers(
  query: Query,
  { selected, shown, skipped, readTime, stats }: QueryAnswer,
): Generator<object> {
  yield* begun(selected);
  // After `done`, clients treat the received documents as the complete result, even if the stream then fails.
  const end = { done: true, ...(stats && { explainMetrics: stats }) };
  if (shown.length === 0) yield { readTime, skippedResults: skipped, ...end };
  // Projected before sending, so that omitted fields do not stay in memory while an answer is sent.
  const parts = query.select && shown.map((one) => encodeShown(query, one));
  for (const [i, one] of (parts ?? shown).entries()) {
    const document = Buffer.isBuffer(one) ? one : encodeShown(query, one);
    const answer = { document, readTime, skippedResults: i === 0 ? skipped : 0 };
    yield i === shown.length - 1 ? { ...answer, ...end } : answer;
  }
}

function begun({ begun: transaction }: SelectedConsistency): object[] {
  return transaction ? [{ transaction }] : [];
}

/** A projection that does not name the distance field omits it, as any other field. */
function encodeShown({ nearest, select }: Query, { found, distance }: AnsweredDocument): Buffer {
  const { stored, name } = found;
  if (distance === undefined || nearest?.resultField === undefined) return encodeFound(stored, select);
  const withDistance = withField(found.fields, [nearest.resultField], { kind: 'double', value: distance });
  const fields = select ? project(withDistance, select) : withDistance;
  return encodeDocument(encodeBody(name, fields), stored.createTime, stored.updateTime);
}
