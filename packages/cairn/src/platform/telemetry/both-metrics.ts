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
    effect(effect) {
      first.effect(effect);
      second.effect(effect);
    },
    conflict(conflict) {
      first.conflict(conflict);
      second.conflict(conflict);
    },
    dispatch(dispatch) {
      first.dispatch(dispatch);
      second.dispatch(dispatch);
    },
  };
}
