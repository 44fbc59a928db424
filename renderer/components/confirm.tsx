import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

export interface ConfirmProps {
  readonly open: boolean;
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks once before something that cannot be taken back. The safe button has the focus. */
export function Confirm({ open, title, text, action, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog open={open} onClose={onClose} title={title} description={text}>
      <div className="flex justify-end gap-2 px-4 pt-4 pb-3">
        <Button autoFocus onClick={onClose}>
          Keep
        </Button>
        <Button
          look="primary"
          onClick={() => {
            onClose();
            onConfirm();
          }}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
