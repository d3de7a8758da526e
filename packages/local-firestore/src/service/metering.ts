/** Reports operations to the meter, with their run. No other file of the server knows runs. */
import type { Meter } from '../meter.ts';
import type { Fields } from '../model/value.ts';
import { readTextField } from '../wire/document-codec.ts';
import type { CommitPlan } from './database.ts';

const RUN_PATH = /\/documents\/[^/]*runs\/([^/]+)/;
/** Member that names the run of a document whose path does not. */
export const RUN_FIELD = 'runId';

/** Run of a document: the root document of a collection whose id ends in `runs`; otherwise the member `runId`. */
export function runOf(name: string, fields: Fields | undefined): string | undefined {
  const byPath = RUN_PATH.exec(name);
  if (byPath) return byPath[1];
  const value = fields?.get(RUN_FIELD);
  return value?.kind === 'string' ? value.value : undefined;
}

/** The same for a stored body, which is only parsed if the path does not name the run. */
export function runOfBody(name: string, body: Uint8Array | undefined): string | undefined {
  const byPath = RUN_PATH.exec(name);
  if (byPath) return byPath[1];
  return body && readTextField(body, RUN_FIELD);
}

/** A document that a commit only verifies counts as a read. */
export function meterCommit(call: string, plan: CommitPlan, meter: Meter): void {
  const written = plan.outcomes.flatMap(({ name, kind, bytes, fields }) => {
    const runId = runOf(name, fields);
    if (kind !== 'verify') return [{ name, kind, bytes, runId }];
    meter.read(call, name, runId);
    return [];
  });
  meter.commit(call, written);
}
