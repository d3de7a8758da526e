/** An action with a reason as its only field. */
import { type ReactNode, useState } from 'react';
import type { ChangingMethod, PathWith } from '../../api/client.ts';
import { ActionDialog, type ActionDialogProps } from './action-dialog.tsx';

interface ReasonDialogProps<M extends ChangingMethod, P extends PathWith<M>>
  extends Pick<ActionDialogProps<M, P>, 'title' | 'verb' | 'danger' | 'outdated' | 'onClose'> {
  /** The action with the reason as typed; undefined while it lacks one. */
  plan(reason: string): ActionDialogProps<M, P>['act'];
  readonly label?: string;
  readonly required?: boolean;
  /** The API's limit of characters. */
  readonly most: number;
  readonly children: ReactNode;
}

export function ReasonDialog<M extends ChangingMethod, P extends PathWith<M>>(
  props: ReasonDialogProps<M, P>,
) {
  const { plan, label, required, most, children, ...dialog } = props;
  const [reason, setReason] = useState('');
  return (
    <ActionDialog {...dialog} act={plan(reason)} lack={required ? 'Give a reason.' : undefined}>
      {children}
      <label>
        {label ?? (required ? 'Reason' : 'Reason (optional)')}
        <input
          value={reason}
          maxLength={most}
          onChange={(event) => setReason(event.target.value)}
          required={required}
        />
      </label>
    </ActionDialog>
  );
}
