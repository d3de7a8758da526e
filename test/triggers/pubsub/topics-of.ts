/** Topics to which workflows subscribe. */
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';

/** Sorted by name. */
export function topicsOf(workflows: readonly Pick<Workflow, 'pubsub'>[]): readonly string[] {
  return [...new Set(workflows.flatMap(({ pubsub }) => pubsub.map(({ topic }) => topic)))].sort();
}
