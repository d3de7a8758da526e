/** The external calls of one step, each with its outcome. The tab Effects has requests and results. */
import { stepKey } from '@cairn/client';
import { useQuery } from '@tanstack/react-query';
import { CutText, Text } from '../../../parts/value-text.tsx';
import { useSession } from '../../../session/session.ts';
import { ViewLink } from '../header/view-link.tsx';
import { useRunData } from '../live/run-data.ts';
import { effectFacts, effectWords } from './words.ts';

/** Read for the panel; those beyond are in the tab. */
const MAX_READ = '100';
const MAX_SHOWN = 5;

interface EffectsOfStepProps {
  readonly stepKey: string;
  /** As the events name them. */
  readonly ids: readonly string[];
}

export function EffectsOfStep({ stepKey: key, ids }: EffectsOfStepProps) {
  const { id, run, isOver, head } = useRunData();
  const { api } = useSession();
  const { data } = useQuery({
    queryKey: ['run', id, 'effects', 'first', head],
    enabled: ids.length > 0,
    queryFn: ({ signal }) =>
      api.get('/v1/runs/{id}/effects', { params: { id }, query: { limit: MAX_READ }, signal }),
    placeholderData: (before) => before,
  });
  if (ids.length === 0) return null;
  const facts = effectFacts(run, isOver);
  const own = data?.items.filter((effect) => stepKey(effect) === key) ?? [];
  const shown = own.slice(-MAX_SHOWN);
  return (
    <section aria-label="Effects of the step">
      <h3>Effects</h3>
      <ul className="step-effects">
        {shown.map((effect) => {
          const { tone, mark, words } = effectWords(effect, facts);
          return (
            <li key={effect.effectId}>
              <ViewLink to={{ tab: 'effects', effect: effect.effectId }}>
                <CutText value={effect.capabilityId} max={80} />
              </ViewLink>{' '}
              <span className={`status ${tone}`}>
                <span aria-hidden="true">{mark}</span> {words}
              </span>
              {effect.error !== undefined && (
                <span className="attempt-more bad">
                  <Text value={effect.error} max={200} />
                </span>
              )}
            </li>
          );
        })}
      </ul>
      {shown.length < ids.length && (
        <ViewLink to={{ tab: 'effects', effect: ids.at(-1) }}>All effects of the run</ViewLink>
      )}
    </section>
  );
}
