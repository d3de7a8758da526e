/** The workflow that a mistyped name was probably meant to be. */
import type { CairnClient } from '@cairn/client';
import { closest } from '../arguments/closest.ts';

/** Undefined for a workflow that is deployed, or has runs, and for one whose name is near no other. */
export async function nearType(api: CairnClient, type: string): Promise<string | undefined> {
  const { items } = await api.get('/v1/workflows', {});
  const known = items.map((workflow) => workflow.type);
  return known.includes(type) ? undefined : closest(type, known);
}
