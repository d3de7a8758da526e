/** A table whose rows become blocks on a phone. */
import type { ReactNode } from 'react';

export interface Column<T> {
  readonly title: string;
  /** Label of the value on a phone, which shows no column titles: the title, or a shorter word. */
  readonly label?: true | string;
  readonly cell: (row: T) => ReactNode;
  readonly tone?: (row: T) => string | undefined;
}

interface StackTableProps<T> {
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string | number;
  readonly isCurrent?: (row: T) => boolean;
  readonly className?: string;
}

export function StackTable<T>({ rows, columns, keyOf, isCurrent, className = '' }: StackTableProps<T>) {
  return (
    <table className={`${className} stacks`.trim()}>
      <thead>
        <tr>
          {columns.map(({ title }) => (
            <th key={title}>{title}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} aria-current={isCurrent?.(row) || undefined}>
            {columns.map(({ title, label, cell, tone }) => (
              <td key={title} data-label={label === true ? title : label} className={tone?.(row)}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
