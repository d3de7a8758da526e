/**
 * Plan of a query: one source per disjunction, in the query's order if an index has it. Pure: a plan consists of key
 * ranges. Every document found is checked against its disjunction, so a range may be too wide but never too narrow.
 */
import type { IndexConfig } from '../index/index-config.ts';
import { Code, StatusError } from '../status.ts';
import { type Conjunction, disjunctions } from './disjunctions.ts';
import { describeMissing, missingIndex, shapeOf } from './index-choice.ts';
import { isEmpty } from './key-bounds.ts';
import { type PlannedDatabase, Planner, type Source } from './planner.ts';
import type { Filter, Query } from './query.ts';
import { vectorIndexFor } from './vector-choice.ts';

/** Source and filter of one disjunction. The order of the source is only valid together with the filter. */
interface Branch {
  readonly source: Source;
  readonly filter: Filter | undefined;
}

/** @throws FAILED_PRECONDITION if indexes are enforced and one is missing; the message contains its declaration */
export function planQuery(query: Query, planned: PlannedDatabase): readonly Branch[] {
  const { config } = planned;
  if (query.scope.collectionId === undefined) {
    return [{ source: { kind: 'everything', ordered: false }, filter: query.filter }];
  }
  return disjunctions(query.filter).flatMap((conjunction) => {
    const shape = shapeOf(query, conjunction);
    if (config.enforced) requireIndex(query, conjunction, config);
    const source = new Planner(query, planned).source(conjunction, shape);
    const empty = 'bounds' in source && isEmpty(source.bounds);
    return empty ? [] : [{ source, filter: { kind: 'and', filters: conjunction } }];
  });
}

function requireIndex(query: Query, conjunction: Conjunction, config: IndexConfig): void {
  const { nearest } = query;
  if (nearest) {
    vectorIndexFor(config, { ...query, nearest }, conjunction);
    return;
  }
  const shape = shapeOf(query, conjunction);
  const missing = missingIndex(config, query, shape);
  if (!missing) return;
  throw new StatusError(Code.FAILED_PRECONDITION, describeMissing(query, shape, missing));
}
