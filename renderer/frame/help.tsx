import { Dialog } from '../components/dialog.tsx';
import { screen, useScreen } from '../stores/screen-store.ts';
import { keyList } from './shortcuts.ts';

export function Help() {
  const open = useScreen((state) => state.dialog === 'help');
  return (
    <Dialog open={open} onClose={screen.close} title="Keys">
      <dl className="grid grid-cols-[120px_minmax(0,1fr)] gap-y-1 overflow-auto px-4 py-3">
        {keyList.map(([keys, text]) => (
          <div key={keys} className="contents">
            <dt className="flex gap-1">
              {keys.split(' ').map((key) => (
                <span key={key} className="kbd">
                  {key}
                </span>
              ))}
            </dt>
            <dd className="text-ink">{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
