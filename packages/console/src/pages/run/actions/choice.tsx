/** A choice between a few options, each with its meaning. */
import { useId } from 'react';

interface ChoiceProps<T extends string> {
  readonly legend: string;
  readonly options: readonly {
    readonly value: NoInfer<T>;
    readonly name: string;
    readonly meaning: string;
  }[];
  readonly value: T;
  onChange(value: T): void;
}

export function ChoiceOf<T extends string>({ legend, options, value, onChange }: ChoiceProps<T>) {
  const name = useId();
  return (
    <fieldset className="choice">
      <legend>{legend}</legend>
      {options.map((option) => (
        <label key={option.value} data-chosen={option.value === value}>
          <input
            type="radio"
            name={name}
            checked={option.value === value}
            aria-labelledby={`${name}-${option.value}`}
            aria-describedby={`${name}-${option.value}-means`}
            onChange={() => onChange(option.value)}
          />
          <span>
            <span id={`${name}-${option.value}`}>{option.name}</span>
            <span id={`${name}-${option.value}-means`} className="hint">
              {option.meaning}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
