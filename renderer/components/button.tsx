import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react';
import type { LucideIcon } from 'lucide-react';
import { Hint } from './hint.tsx';

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'> {
  readonly look?: 'primary' | 'plain' | 'flat';
  readonly icon?: LucideIcon;
  readonly children: ReactNode;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Button({ look = 'plain', icon: Icon, children, className = '', ...rest }: ButtonProps) {
  return (
    <button type="button" className={`button ${className}`} data-look={look} {...rest}>
      {Icon === undefined ? null : <Icon size={14} strokeWidth={1.75} aria-hidden="true" />}
      {children}
    </button>
  );
}

export interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'> {
  readonly icon: LucideIcon;
  /** Read aloud and shown on hover. */
  readonly label: string;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function IconButton({ icon: Icon, label, className = '', ...rest }: IconButtonProps) {
  return (
    <Hint text={label}>
      <button type="button" className={`button ${className}`} data-look="icon" aria-label={label} {...rest}>
        <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
      </button>
    </Hint>
  );
}
