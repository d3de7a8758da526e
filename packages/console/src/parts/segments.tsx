/** A choice between a few views, as toggle buttons. */

interface SegmentsProps {
  readonly label: string;
  readonly names: readonly string[];
  readonly chosen: string;
  onChoose(name: string): void;
}

export function Segments({ label, names, chosen, onChoose }: SegmentsProps) {
  return (
    <fieldset className="segments" aria-label={label}>
      {names.map((name) => (
        <button key={name} type="button" aria-pressed={name === chosen} onClick={() => onChoose(name)}>
          {name}
        </button>
      ))}
    </fieldset>
  );
}
