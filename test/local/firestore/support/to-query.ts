/** Converts a question of these tests to the client's own query. */
import { FieldPath, Filter, type Firestore, type Query } from '@google-cloud/firestore';
import { type Condition, NAME, type Question } from './brute-force.ts';

export interface Asked {
  readonly collectionId: string;
  /** True: documents at every depth instead of at the root. */
  readonly group: boolean;
}

/** Undefined if the client itself refuses the query, for example for a cursor on a name outside the collection. */
export function toQuery(
  db: Firestore,
  { collectionId, group }: Asked,
  question: Question,
): Query | undefined {
  let query: Query = group ? db.collectionGroup(collectionId) : db.collection(collectionId);
  try {
    if (question.where) query = query.where(toFilter(question.where));
    for (const { field, descending } of question.orderBy)
      query = query.orderBy(toPath(field), descending ? 'desc' : 'asc');
    if (question.start) {
      const values = question.start.values.map((v) => toCursor(db, v, group));
      query = question.start.inclusive ? query.startAt(...values) : query.startAfter(...values);
    }
    if (question.end) {
      const values = question.end.values.map((v) => toCursor(db, v, group));
      query = question.end.inclusive ? query.endAt(...values) : query.endBefore(...values);
    }
  } catch (error) {
    if (error instanceof Error && /must|can only|cannot|Value for/i.test(error.message)) return undefined;
    throw error;
  }
  if (question.offset) query = query.offset(question.offset);
  if (question.limit !== undefined) query = query.limit(question.limit);
  return query;
}

function toFilter(condition: Condition): Filter {
  if ('all' in condition) return Filter.and(...condition.all.map(toFilter));
  if ('any' in condition) return Filter.or(...condition.any.map(toFilter));
  return Filter.where(condition.field, condition.op, condition.value);
}

function toPath(field: string): string | FieldPath {
  return field === NAME ? FieldPath.documentId() : field;
}

function toCursor(db: Firestore, value: unknown, group: boolean): unknown {
  if (typeof value !== 'object' || value === null || !('name' in value)) return value;
  return group ? db.doc(value.name as string) : (value.name as string).split('/').at(-1);
}
