/** One row of a long table: a line of cells and, if it is open, its details below. */
import type { ReactNode } from 'react';

interface TableRowProps {
  /** Identifies the row for tests and links. */
  readonly name: string;
  /** Position in the table from 1, including the head. */
  readonly position: number;
  readonly cells: readonly ReactNode[];
  readonly isOpen: boolean;
  onToggle(): void;
  readonly children: ReactNode;
}

export function TableRow({ name, position, cells, isOpen, onToggle, children }: TableRowProps) {
  const [first, ...others] = cells;
  return (
    // biome-ignore-start lint/a11y/useSemanticElements: an HTML table cannot leave out the rows out of view
    // biome-ignore-start lint/a11y/useFocusableInteractive: the button of a row takes the focus
    <>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the button of the row handles keys */}
      <div
        role="row"
        className="row-table-row"
        aria-rowindex={position}
        data-row={name}
        data-open={isOpen}
        onClick={onToggle}
      >
        <span role="cell">
          <button
            type="button"
            className="plain row-opener"
            aria-expanded={isOpen}
            onClick={(click) => {
              click.stopPropagation();
              onToggle();
            }}
          >
            <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> {first}
          </button>
        </span>
        {others.map((cell, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the columns are always the same
          <span key={at} role="cell">
            {cell}
          </span>
        ))}
      </div>
      {isOpen && (
        <div role="row" className="row-table-whole">
          <div role="cell" className="row-table-all">
            {children}
          </div>
        </div>
      )}
    </>
    // biome-ignore-end lint/a11y/useFocusableInteractive: the button of a row takes the focus
    // biome-ignore-end lint/a11y/useSemanticElements: an HTML table cannot leave out the rows out of view
  );
}
