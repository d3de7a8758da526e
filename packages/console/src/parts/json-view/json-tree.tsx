/** The rows of a JSON value as a tree with arrow keys. Only rows in view are rendered. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useId, useRef } from 'react';
import { textScale } from '../tables/text-scale.ts';
import { visibleText } from '../visible-text.ts';
import { isBranch, type TreeNode } from './tree.ts';
import { rowWords } from './words.ts';

/** As high as `.json-row` at the default font, px. */
const ROW_PX = 22;
/** Rows beyond the edge, so that scrolling shows no blank. */
const BEYOND = 10;
/** Greatest depth with further indentation, which would otherwise leave the page. */
const DEEPEST = 24;
const INDENT_PX = 14;

interface JsonTreeProps {
  readonly label: string;
  readonly rows: readonly TreeNode[];
  isOpen(id: string): boolean;
  readonly chosen: TreeNode | undefined;
  onChoose(node: TreeNode): void;
  onToggle(node: TreeNode): void;
}

export function JsonTree({ label, rows, isOpen, chosen, onChoose, onToggle }: JsonTreeProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const prefix = useId();
  const window = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX * textScale(),
    overscan: BEYOND,
  });
  const at = chosen ? rows.findIndex(({ id }) => id === chosen.id) : -1;
  useEffect(() => {
    if (at >= 0) window.scrollToIndex(at);
  }, [at, window]);
  const onKeyDown = (event: KeyboardEvent) => {
    const node = rows[at];
    const to = nextPosition(event.key, { rows, at, isOpen: node !== undefined && isOpen(node.id) });
    if (to === undefined) return;
    event.preventDefault();
    if (to === 'toggle') return node && isBranch(node) ? onToggle(node) : undefined;
    const next = rows[Math.max(0, Math.min(to, rows.length - 1))];
    if (next) onChoose(next);
  };
  return (
    <div
      ref={scroll}
      className="json-tree"
      role="tree"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={at >= 0 ? `${prefix}${at}` : undefined}
      onKeyDown={onKeyDown}
    >
      <div className="json-rows" style={{ height: window.getTotalSize() }}>
        {window.getVirtualItems().map(({ index, start }) => {
          const node = rows[index];
          if (!node) return null;
          return (
            <Row
              key={node.id}
              id={`${prefix}${index}`}
              node={node}
              top={start}
              isOpen={isOpen(node.id)}
              isChosen={index === at}
              onChoose={() => onChoose(node)}
              onToggle={() => onToggle(node)}
            />
          );
        })}
      </div>
    </div>
  );
}

interface TreePosition {
  readonly rows: readonly TreeNode[];
  readonly at: number;
  readonly isOpen: boolean;
}

/** Returns the row to which a key moves in a tree; undefined: the key is not handled. */
function nextPosition(key: string, { rows, at, isOpen }: TreePosition): number | 'toggle' | undefined {
  const node = rows[at];
  switch (key) {
    case 'ArrowDown':
      return at + 1;
    case 'ArrowUp':
      return at - 1;
    case 'Home':
      return 0;
    case 'End':
      return rows.length - 1;
    case 'Enter':
    case ' ':
      return 'toggle';
    case 'ArrowRight':
      return isOpen ? at + 1 : 'toggle';
    case 'ArrowLeft':
      if (isOpen) return 'toggle';
      return node?.parent ? rows.findIndex(({ id }) => id === node.parent?.id) : undefined;
    default:
      return undefined;
  }
}

interface RowProps {
  readonly id: string;
  readonly node: TreeNode;
  readonly top: number;
  readonly isOpen: boolean;
  readonly isChosen: boolean;
  onChoose(): void;
  onToggle(): void;
}

function Row({ id, node, top, isOpen, isChosen, onChoose, onToggle }: RowProps) {
  const { tone, words, more } = rowWords(node);
  const branch = isBranch(node);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the tree, which has the focus
    <div
      id={id}
      className="json-row"
      role="treeitem"
      tabIndex={-1}
      aria-level={node.depth + 1}
      aria-selected={isChosen}
      aria-expanded={branch ? isOpen : undefined}
      style={{ top, paddingLeft: (6 + Math.min(node.depth, DEEPEST) * INDENT_PX) * textScale() }}
      onClick={() => {
        onChoose();
        if (branch) onToggle();
      }}
    >
      <span className="json-mark" aria-hidden="true">
        {branch ? (isOpen ? '▾' : '▸') : ''}
      </span>
      {node.key !== undefined && (
        <>
          <bdi className="json-key">{visibleText(String(node.key))}</bdi>
          <span className="dim">: </span>
        </>
      )}
      <bdi className={`json-${tone}`}>{words}</bdi>
      {more && <span className="dim"> {more}</span>}
    </div>
  );
}
