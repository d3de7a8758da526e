/** Searches a large value in pieces, so that the page stays responsive. */
import { useEffect, useState } from 'react';
import { hitsOf } from './search.ts';
import type { TreeNode } from './tree.ts';

export interface Hits {
  readonly nodes: readonly TreeNode[];
  readonly isDone: boolean;
}

const NONE: Hits = { nodes: [], isDone: true };
/** A keystroke that follows soon makes the search before it pointless. */
const PAUSE_MS = 120;

export function useHits(root: TreeNode, wanted: string): Hits {
  const [hits, setHits] = useState(NONE);
  useEffect(() => {
    if (wanted === '') return setHits(NONE);
    const looking = hitsOf(root, wanted);
    const nodes: TreeNode[] = [];
    let timer = setTimeout(look, PAUSE_MS);
    function look() {
      for (let next = looking.next(); ; next = looking.next()) {
        if (next.done) return setHits({ nodes, isDone: true });
        if (!next.value) break;
        nodes.push(next.value);
      }
      setHits({ nodes: [...nodes], isDone: false });
      timer = setTimeout(look);
    }
    return () => clearTimeout(timer);
  }, [root, wanted]);
  return hits;
}
