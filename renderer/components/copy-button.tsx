import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button, IconButton } from './button.tsx';
import { copyText } from './clipboard.ts';

export interface CopyButtonProps {
  /** Read when pressed, so that long texts are put together only then. */
  readonly text: () => string | Promise<string>;
  readonly label?: string;
  readonly look?: 'primary' | 'plain' | 'flat' | 'icon';
}

export function CopyButton({ text, label = 'Copy', look = 'flat' }: CopyButtonProps) {
  const [said, setSaid] = useState<'' | 'Copied' | 'Not copied'>('');
  useEffect(() => {
    if (said === '') return;
    const timer = setTimeout(() => {
      setSaid('');
    }, 1_500);
    return () => {
      clearTimeout(timer);
    };
  }, [said]);
  const copy = (): void => {
    void Promise.resolve(text())
      .then(copyText)
      .then((done) => {
        setSaid(done ? 'Copied' : 'Not copied');
      });
  };
  const icon = said === 'Copied' ? Check : Copy;
  if (look === 'icon') return <IconButton icon={icon} label={said === '' ? label : said} onClick={copy} />;
  return (
    <Button look={look} icon={icon} onClick={copy} aria-live="polite">
      {/* Both words share one cell, so that the width stays. */}
      <span className="grid *:[grid-area:1/1]">
        <span className={said === '' ? '' : 'invisible'}>{label}</span>
        <span className={said === '' ? 'invisible' : ''}>{said === '' ? 'Copied' : said}</span>
      </span>
    </Button>
  );
}
