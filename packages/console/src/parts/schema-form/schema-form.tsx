/** Fields for an input, made of its schema. Shows every issue at once, each at its field. */
import { useId } from 'react';
import { visibleText } from '../visible-text.ts';
import type { Field, FieldIssue, Typed } from './fields.ts';
import './schema-form.css';

interface SchemaFormProps {
  readonly label: string;
  readonly fields: readonly Field[];
  readonly typed: Typed;
  readonly issues: readonly FieldIssue[];
  /** Refusals by the API of the present values. */
  readonly refused: readonly FieldIssue[];
  onTyped(typed: Typed): void;
}

export function SchemaForm({ label, fields, typed, issues, refused, onTyped }: SchemaFormProps) {
  return (
    <fieldset className="schema-form">
      <legend>{label}</legend>
      {fields.map((field) => (
        <OneField
          key={field.name}
          field={field}
          text={typed[field.name] ?? ''}
          why={issues.find(({ name }) => name === field.name)?.why}
          refusal={refused.find(({ name }) => name === field.name)?.why}
          onText={(text) => onTyped({ ...typed, [field.name]: text })}
        />
      ))}
    </fieldset>
  );
}

interface OneFieldProps {
  readonly field: Field;
  readonly text: string;
  readonly why: string | undefined;
  readonly refusal: string | undefined;
  onText(text: string): void;
}

function OneField({ field, text, why, refusal, onText }: OneFieldProps) {
  const { name, kind, isRequired, description, example } = field;
  const id = useId();
  const bad = text === '' ? refusal : (why ?? refusal);
  const isBad = bad !== undefined;
  const shared = { id, 'aria-describedby': `${id}-hint`, 'aria-invalid': isBad };
  const change = (event: { readonly target: { readonly value: string } }) => onText(event.target.value);
  return (
    <div className="field">
      <label htmlFor={id}>
        {visibleText(name)} {!isRequired && <span className="dim">optional</span>}
      </label>
      {kind === 'choice' || kind === 'boolean' ? (
        <select {...shared} value={text} onChange={change}>
          <option value="" />
          {(kind === 'boolean' ? ['true', 'false'] : field.choices).map((choice) => (
            <option key={choice} value={choice}>
              {visibleText(choiceText(choice))}
            </option>
          ))}
        </select>
      ) : kind === 'json' ? (
        <textarea
          {...shared}
          className="mono"
          rows={3}
          value={text}
          placeholder={visibleText(example)}
          spellCheck={false}
          onChange={change}
        />
      ) : (
        <input
          {...shared}
          value={text}
          placeholder={visibleText(example)}
          inputMode={kind === 'text' ? undefined : 'decimal'}
          autoComplete="off"
          onChange={change}
        />
      )}
      <p id={`${id}-hint`} className={isBad ? 'hint bad' : 'hint'}>
        {isBad ? visibleText(bad) : visibleText(description ?? (kind === 'json' ? 'JSON' : ''))}
      </p>
    </div>
  );
}

/** The choice as text: without quotes if it is a JSON string. */
function choiceText(choice: string): string {
  return choice.startsWith('"') ? (JSON.parse(choice) as string) : choice;
}
