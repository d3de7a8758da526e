/** Preview of a successor, step by step. */
import { stepKey } from '@cairn/client';
import { useState } from 'react';
import { Failure } from '../../../parts/states.tsx';
import { Text } from '../../../parts/value-text.tsx';
import type { PreviewState } from './use-preview.ts';
import { countsOf, effectWords, type Preview, stepWords, type Words } from './words.ts';

/** Rows shown before one asks for all. */
const SHOWN = 50;

export function PreviewView({ foreseen }: { readonly foreseen: PreviewState }) {
  const preview = foreseen.kind === 'told' ? foreseen.preview : undefined;
  const before = foreseen.kind === 'asking' ? foreseen.before : undefined;
  return (
    <section
      className="preview"
      aria-label="Preview"
      aria-live="polite"
      aria-busy={foreseen.kind === 'asking'}
    >
      <h3>
        What would happen
        {foreseen.kind === 'asking' && <span className="spinner" role="status" aria-label="Asking" />}
      </h3>
      {foreseen.kind === 'incomplete' && <p className="hint">It is told once the form is filled in.</p>}
      {foreseen.kind === 'failed' && <Failure error={foreseen.error} again={foreseen.again} />}
      {(preview ?? before) && <Told preview={(preview ?? before) as Preview} />}
    </section>
  );
}

function Told({ preview }: { readonly preview: Preview }) {
  const { would, blockers, steps, effects, effectsCut } = preview;
  return (
    <>
      {blockers.map(({ code, detail, help }) => (
        <div className="failure" key={`${code} ${detail}`}>
          <p>
            <strong>Obstacle</strong> <code>{code}</code>
          </p>
          <p>
            <Text value={detail} />
          </p>
          <p className="hint">
            <Text value={help} />
          </p>
        </div>
      ))}
      {would === 'unpark' && <p>The run itself continues; there is no new run.</p>}
      {would === 'nothing' && blockers.length === 0 && <p>Nothing: the run continues by itself.</p>}
      {steps.length > 0 && <p>{countsOf(preview)}</p>}
      <StepTable steps={steps} />
      <EffectTable effects={effects} />
      {effectsCut && <p className="hint">More outside actions are recorded than are shown.</p>}
    </>
  );
}

function StepTable({ steps }: { readonly steps: Preview['steps'] }) {
  const [shown, setShown] = useState(SHOWN);
  if (steps.length === 0) return null;
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">Would be</th>
            <th scope="col">Because</th>
          </tr>
        </thead>
        <tbody>
          {steps.slice(0, shown).map((step) => (
            <tr key={step.id} data-step={step.id} data-action={step.action}>
              <th scope="row">
                <code>
                  <Text value={step.id} />
                </code>
                {step.kind !== 'step' && <span className="dim"> {step.kind}</span>}
              </th>
              <WordCells {...stepWords(step)} />
            </tr>
          ))}
        </tbody>
      </table>
      {steps.length > shown && (
        <button type="button" onClick={() => setShown(steps.length)}>
          Show all {steps.length} steps
        </button>
      )}
    </>
  );
}

function EffectTable({ effects }: { readonly effects: Preview['effects'] }) {
  const [shown, setShown] = useState(SHOWN);
  if (effects.length === 0) return null;
  return (
    <>
      <h3>Effects, if a step that runs requests them again</h3>
      <table>
        <thead>
          <tr>
            <th scope="col">Action</th>
            <th scope="col">Would be</th>
            <th scope="col">Because</th>
          </tr>
        </thead>
        <tbody>
          {effects.slice(0, shown).map((effect) => (
            <tr key={effect.effectId} data-action={effect.action}>
              <th scope="row">
                <code>
                  <Text value={effect.capabilityId} />
                </code>
                <span className="dim">
                  {' of '}
                  <Text value={stepKey(effect)} />
                </span>
              </th>
              <WordCells {...effectWords(effect)} />
            </tr>
          ))}
        </tbody>
      </table>
      {effects.length > shown && (
        <button type="button" onClick={() => setShown(effects.length)}>
          Show all {effects.length} actions
        </button>
      )}
    </>
  );
}

function WordCells({ tone, words, because }: Words) {
  return (
    <>
      <td className={tone}>{words}</td>
      <td className="dim">{because}</td>
    </>
  );
}
