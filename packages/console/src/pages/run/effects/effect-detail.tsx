/** All ledger data of one external call. */
import { attemptKey, stepKey } from '@cairn/client';
import { GuardedButton } from '../../../parts/guarded-button.tsx';
import { JsonView } from '../../../parts/json-view/json-view.tsx';
import { Facts } from '../../../parts/tables/facts.tsx';
import { Text } from '../../../parts/value-text.tsx';
import { sizeWords, visibleText } from '../../../parts/visible-text.ts';
import { When } from '../../../parts/when.tsx';
import { useOpenAct } from '../actions/use-act.ts';
import { ViewLink } from '../header/view-link.tsx';
import { type Effect, type EffectRunFacts, effectWords, isResolvedByPerson } from './words.ts';

interface EffectDetailProps {
  readonly effect: Effect;
  /** Those of the run that are at hand. */
  readonly all: readonly Effect[];
  readonly facts: EffectRunFacts;
}

export function EffectDetail({ effect, all, facts }: EffectDetailProps) {
  const { tone, words, meaning } = effectWords(effect, facts);
  const { resolution, lateAnswer, error, originEffectId } = effect;
  return (
    <>
      <p>
        <strong className={tone}>{words}</strong>: {visibleText(meaning)}
      </p>
      {isResolvedByPerson(effect, facts) && <ResolveButton effectId={effect.effectId} />}
      {error !== undefined && (
        <p className="bad">
          <Text value={error} />
        </p>
      )}
      {resolution && (
        <p className="effect-resolution">
          Resolved as <strong>{resolution.outcome}</strong> by <Text value={resolution.by} />{' '}
          <When at={resolution.at} exact />
          {resolution.note !== undefined && (
            <>
              : “<Text value={resolution.note} />”
            </>
          )}
        </p>
      )}
      <Values effect={effect} />
      {lateAnswer && (
        <p className="hint">
          An answer came <When at={lateAnswer.at} exact />, after the effect was resolved. It is kept as
          evidence
          {lateAnswer.error !== undefined && (
            <>
              : <Text value={lateAnswer.error} />
            </>
          )}
        </p>
      )}
      <Facts
        facts={[
          ['Step', attemptKey(effect)],
          ['Attempt', effect.attempt],
          ['Dispatch', effect.epoch],
          ['Binding', effect.bindingId],
          ['Kind', effect.effectClass],
          ['On a replay', effect.replayPolicy.replaceAll('_', ' ')],
          ['Effect', effect.effectId],
          ['Idempotency key', effect.idempotencyKey],
          ['Request hash', effect.requestHash],
          ['Response hash', effect.responseHash],
          ['Begun', <When key="begun" at={effect.createdAt} exact />],
          ['Updated', <When key="updated" at={effect.updatedAt} exact />],
        ]}
      />
      <Lineage effect={effect} all={all} originEffectId={originEffectId} />
      <p className="row">
        <ViewLink to={{ tab: 'journal', of: stepKey(effect), event: undefined, effect: undefined }}>
          Events of its step
        </ViewLink>
        <ViewLink to={{ tab: 'overview', step: stepKey(effect), effect: undefined }}>In the graph</ViewLink>
      </p>
    </>
  );
}

function ResolveButton({ effectId }: { readonly effectId: string }) {
  const open = useOpenAct();
  return (
    <p className="row">
      <GuardedButton
        least="operator"
        className="primary"
        onClick={() => open('resolve', { effect: effectId })}
      >
        Resolve
      </GuardedButton>
    </p>
  );
}

function Values({ effect: { request, result, recordedResultRef, status } }: { readonly effect: Effect }) {
  return (
    <div className="effect-values">
      <section aria-label="Request">
        <h2>Request</h2>
        {request === undefined ? (
          <p className="hint">It is too long to be stored with the effect.</p>
        ) : (
          <JsonView value={request} label="The request, without its secret fields" />
        )}
      </section>
      <section aria-label="Result">
        <h2>Result</h2>
        {result !== undefined ? (
          <JsonView value={result} label="The recorded result" />
        ) : recordedResultRef ? (
          <p className="hint">
            {sizeWords(recordedResultRef.bytes)}, kept with run <code>{recordedResultRef.runId}</code>.
          </p>
        ) : (
          <p className="hint">
            {status === 'reused' ? 'The original effect has the result.' : 'No result is recorded.'}
          </p>
        )}
      </section>
    </div>
  );
}

interface LineageProps extends Pick<EffectDetailProps, 'effect' | 'all'> {
  readonly originEffectId: string | undefined;
}

/** Rows with the same key are one effect, which another run may have performed first. */
function Lineage({ effect, all, originEffectId }: LineageProps) {
  const same = all.filter(
    ({ idempotencyKey, effectId }) =>
      idempotencyKey === effect.idempotencyKey && effectId !== effect.effectId,
  );
  const origin = all.find(({ effectId }) => effectId === originEffectId);
  if (same.length === 0 && originEffectId === undefined) return null;
  return (
    <section aria-label="Lineage">
      <h2>Lineage</h2>
      {originEffectId !== undefined && (
        <p>
          Answered by <code>{originEffectId}</code>
          {origin ? (
            <>
              {' '}
              <ViewLink to={{ effect: originEffectId }}>of this run</ViewLink>
            </>
          ) : (
            ', of an earlier run of the lineage'
          )}
        </p>
      )}
      {same.map(({ effectId, n, status }) => (
        <p key={effectId}>
          <ViewLink to={{ effect: effectId }}>
            Row {n} of the same action ({status})
          </ViewLink>
        </p>
      ))}
    </section>
  );
}
