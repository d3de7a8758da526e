/** RunAggregationQuery: count, sum and average over a query's results. */

import { performance } from 'node:perf_hooks';
import { fromMicros, type Int64, integer } from '@cairn/local-kit/wire/timestamp';
import { type FieldPath, parseFieldPath } from '../../model/field-path.ts';
import { MAX_AGGREGATIONS } from '../../model/limits.ts';
import { billOfAggregation } from '../../model/query/bill.ts';
import { type Candidate, fieldValue } from '../../model/query/match.ts';
import { isNameField, orderByAggregated } from '../../model/query/normalise.ts';
import { average, sum } from '../../model/query/sum.ts';
import { invalid } from '../../model/status.ts';
import type { Value } from '../../model/value.ts';
import { decodeQuery, type WireQuery } from '../../wire/query-codec.ts';
import { checkFieldName } from '../../wire/value-decoder.ts';
import { encodeValue } from '../../wire/value-encoder.ts';
import { readQuery } from '../query-read.ts';
import type { CallContext } from './call.ts';
import { reading, type WireConsistency } from './consistency.ts';
import { type ExplainOptions, executionStats, isPlanOnly, planSummary } from './explain.ts';

interface WireAggregation {
  readonly operator?: 'count' | 'sum' | 'avg';
  readonly count?: { readonly upTo?: { readonly value?: Int64 } | null } | null;
  readonly sum?: { readonly field?: { readonly fieldPath?: string } | null } | null;
  readonly avg?: { readonly field?: { readonly fieldPath?: string } | null } | null;
  readonly alias?: string;
}

interface AggregationRequest extends WireConsistency {
  readonly parent: string;
  readonly structuredAggregationQuery?: {
    readonly structuredQuery?: WireQuery | null;
    readonly aggregations?: readonly WireAggregation[] | null;
  } | null;
  readonly explainOptions?: ExplainOptions | null;
}

interface Aggregation {
  readonly alias: string;
  readonly field: FieldPath | undefined;
  over(candidates: readonly Candidate[]): Value;
}

export async function runAggregationQuery(
  request: AggregationRequest,
  context: CallContext,
): Promise<Iterable<object>> {
  const { store, meter } = context;
  const wire = request.structuredAggregationQuery;
  if (!wire?.structuredQuery) throw invalid('Only structured aggregation queries are supported.');
  const aggregations = decodeAggregations(wire.aggregations ?? []);
  const fields = aggregations.flatMap((a) => (a.field ? [a.field] : []));
  const query = orderByAggregated(decodeQuery(request.parent, wire.structuredQuery), fields);
  const { database, collectionId } = query.scope;
  return reading(store, { database, wire: request }, async (selected) => {
    const id = selected.begun ? { transaction: selected.begun } : {};
    const plan = request.explainOptions && planSummary(store.databases.get(database), query);
    if (plan && isPlanOnly(request.explainOptions)) {
      meter.otherReads('RunAggregationQuery', collectionId, 1);
      return [{ ...id, explainMetrics: { planSummary: plan } }];
    }
    const startedAt = performance.now();
    const { found, skipped, entries, readTime } = await readQuery(store, selected, query);
    const bill = billOfAggregation(found.length + skipped);
    meter.otherReads('RunAggregationQuery', collectionId, bill.reads);
    const aggregateFields = Object.fromEntries(
      aggregations.map((a) => [a.alias, encodeValue(a.over(found))]),
    );
    const answer = { result: { aggregateFields }, readTime: fromMicros(readTime), ...id };
    if (!plan) return [answer];
    const durationMs = performance.now() - startedAt;
    const stats = executionStats({ returned: 1, entries, bill, durationMs });
    return [{ ...answer, explainMetrics: { planSummary: plan, executionStats: stats } }];
  });
}

function decodeAggregations(wire: readonly WireAggregation[]): Aggregation[] {
  if (wire.length === 0) throw invalid('Aggregations can not be empty.');
  if (wire.length > MAX_AGGREGATIONS) {
    throw invalid(
      `The maximum number of aggregations allowed in an aggregation query is ${MAX_AGGREGATIONS}. Received: ${wire.length}.`,
    );
  }
  let unnamed = 0;
  const aggregations = wire.map((a) => decodeAggregation(a, a.alias || `field_${++unnamed}`));
  for (const { alias } of aggregations) checkFieldName(alias);
  const aliases = aggregations.map((a) => a.alias);
  const duplicate = aliases.find((alias, i) => aliases.indexOf(alias) !== i);
  if (duplicate !== undefined) throw invalid(`Aggregation aliases contain duplicate alias: ${duplicate}.`);
  return aggregations;
}

function decodeAggregation(wire: WireAggregation, alias: string): Aggregation {
  switch (wire.operator) {
    case 'count': {
      const upTo = wire.count?.upTo ? integer(wire.count.upTo.value) : Number.POSITIVE_INFINITY;
      if (upTo <= 0) throw invalid('The `up_to` value in a COUNT aggregation must be greater than zero.');
      return { alias, field: undefined, over: (c) => integerValue(BigInt(Math.min(c.length, upTo))) };
    }
    case 'sum': {
      const field = aggregated(wire.sum?.field?.fieldPath);
      return { alias, field, over: (c) => sum(numbers(c, field)) };
    }
    case 'avg': {
      const field = aggregated(wire.avg?.field?.fieldPath);
      return { alias, field, over: (c) => average(numbers(c, field)) };
    }
    default:
      throw invalid('Operator field in Aggregation is not set.');
  }
}

function aggregated(path = ''): FieldPath {
  const field = parseFieldPath(path);
  if (isNameField(field)) throw invalid('Aggregations are not supported for the property: __key__');
  return field;
}

function numbers(candidates: readonly Candidate[], field: FieldPath): (number | bigint)[] {
  return candidates.flatMap((candidate) => {
    const value = fieldValue(candidate, field);
    return value?.kind === 'integer' || value?.kind === 'double' ? [value.value] : [];
  });
}

function integerValue(value: bigint): Value {
  return { kind: 'integer', value };
}
