/** Asks a person before a change. Must not: decide whether to ask. */
import type { World } from './world.ts';

/** @returns undefined once the person agrees, otherwise why the change is not made */
export async function declined(world: World, question: string): Promise<string | undefined> {
  const answer = await world.ask(`${question} [y/N] `);
  if (answer === undefined) return 'there is no terminal to ask';
  return /^y(?:es)?$/i.test(answer.trim()) ? undefined : 'nothing was changed';
}

/** Help text if `declined` returns a reason. */
export const SAY_YES = 'Add --yes to continue without confirmation.';
