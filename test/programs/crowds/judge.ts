/** Judges a crowd by rules that do not depend on its processes. */
import type { Crowd } from './grammar.ts';
import { poisonous, progresses } from './grammar.ts';

/** Maximum number of processes that a hostile run may kill. */
export const MAX_DEATHS = 5;

export interface End {
  readonly status: string;
  readonly error?: { readonly code: string; readonly message?: string; readonly stepId?: string | undefined };
}

export interface Ends {
  readonly innocents: readonly End[];
  readonly hostile: End;
  /** Processes that ended because of the hostile run: the cause or the name of each. */
  readonly deaths: readonly string[];
}

export interface Outcome {
  readonly deaths: number;
  readonly innocents: number;
  readonly hostile: string;
}

/** @throws Error that names the seed, if a rule is broken */
export function judge(seed: number, crowd: Crowd, { innocents, hostile, deaths }: Ends): Outcome {
  const problems = innocents.flatMap(({ status, error }) =>
    status === 'completed' ? [] : [`an innocent run is ${status}: ${error?.message}`],
  );
  problems.push(...ofHostile(crowd, hostile));
  if (deaths.length > MAX_DEATHS) problems.push(`${deaths.length} processes died: ${deaths}`);
  if (problems.length > 0)
    throw new Error(`seed ${seed}: ${problems.join('; ')}\n${JSON.stringify(crowd.hostile)}`);
  const { status, error } = hostile;
  return { deaths: deaths.length, innocents: innocents.length, hostile: error?.code ?? status };
}

function ofHostile({ hostile }: Crowd, { status, error }: End): string[] {
  const guilty = poisonous(hostile);
  const isNamed = status === 'failed' && error?.code === 'RUN_RESUME_FAILED';
  if (!isNamed && (guilty.length > 0 || status !== 'completed'))
    return [`the hostile run is ${status} (${error?.code})`];
  // Leftovers of a body may strike while any step is running.
  if (!isNamed || progresses(hostile)) return [];
  return guilty.includes(error.stepId ?? '') ? [] : [`it was named for '${error.stepId}', not ${guilty}`];
}
