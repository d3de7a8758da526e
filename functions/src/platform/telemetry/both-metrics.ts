/** Counts everything twice: where it is read, and where it is sent from. */
import type { Metrics } from '../../ports/metrics.ts';

export function bothMetrics(first: Metrics, second: Metrics): Metrics {
  return {
    transition(transition) {
      first.transition(transition);
      second.transition(transition);
    },
    ended(ending) {
      first.ended(ending);
      second.ended(ending);
    },
    answered(answer) {
      first.answered(answer);
      second.answered(answer);
    },
  };
}
