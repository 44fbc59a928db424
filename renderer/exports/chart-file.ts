/** A chart as a file of its own: styles written into the picture, nothing from outside, so that it looks the same anywhere. */

export interface ChartLook {
  /** Paper and ink of the theme that is on. */
  readonly background: string;
  readonly ink: string;
  /** Stands over the chart: what was measured, on what, and whether it was simulated. */
  readonly title: string;
}

/** Room for the title over the chart. */
export const CAPTION_HEIGHT = 28;

/** A standalone SVG of the one that is on screen. Values of the theme's variables replace their names. */
export function svgText(svg: SVGSVGElement, look: ChartLook): string {
  const { width, height } = sizeOf(svg);
  const copy = svg.cloneNode(true) as SVGSVGElement;
  inlineStyles(svg, copy, null);
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height + CAPTION_HEIGHT));
  copy.setAttribute('viewBox', `0 ${-CAPTION_HEIGHT} ${width} ${height + CAPTION_HEIGHT}`);
  const title = document.createElementNS(SVG, 'title');
  title.textContent = look.title;
  const caption = document.createElementNS(SVG, 'text');
  caption.textContent = look.title;
  const captionLook = { x: '8', y: String(6 - CAPTION_HEIGHT / 2), 'font-size': '13', fill: look.ink };
  for (const [name, value] of Object.entries(captionLook)) caption.setAttribute(name, value);
  const paper = document.createElementNS(SVG, 'rect');
  paper.setAttribute('y', String(-CAPTION_HEIGHT));
  paper.setAttribute('width', '100%');
  paper.setAttribute('height', '100%');
  paper.setAttribute('fill', look.background);
  copy.prepend(title, paper, caption);
  return withoutForbidden(new XMLSerializer().serializeToString(copy));
}

/** Drawn at `scale` times its size on screen. Rejects when the browser cannot draw it. */
export async function pngOf(svg: SVGSVGElement, look: ChartLook, scale = 2): Promise<Blob> {
  const { width, height } = sizeOf(svg);
  const url = URL.createObjectURL(new Blob([svgText(svg, look)], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round((height + CAPTION_HEIGHT) * scale);
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => {
        if (blob === null) reject(new Error('The chart could not be drawn as PNG'));
        else resolve(blob);
      }, 'image/png');
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Letters, digits and dashes of a name; other systems take nothing else in file names. */
export function fileName(name: string, ending: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[^\p{Letter}\p{Number}]+/gu, '-')
    .replace(/^-+|-+$/gu, '')
    .toLowerCase()
    .slice(0, 60);
  return `${plain === '' ? 'chart' : plain}.${ending}`;
}

const SVG = 'http://www.w3.org/2000/svg';

/** What the picture takes from style sheets; the rest stands in attributes. */
const styled = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'font-family',
  'font-size',
  'font-weight',
  'text-anchor',
  'letter-spacing',
  'opacity',
  'paint-order',
] as const;

function inlineStyles(from: Element, to: Element, parentStyle: CSSStyleDeclaration | null): void {
  const style = getComputedStyle(from);
  for (const { name } of [...to.attributes])
    if (/^(class|style|tabindex|role|data-.*|aria-.*)$/u.test(name)) to.removeAttribute(name);
  for (const name of styled) {
    const value = style.getPropertyValue(name);
    if (value !== '' && value !== parentStyle?.getPropertyValue(name)) to.setAttribute(name, value);
    else if (value !== '') to.removeAttribute(name);
  }
  // Where a variable is not resolved, as in some engines, its value is looked up.
  for (const { name, value } of [...to.attributes])
    if (value.includes('var('))
      to.setAttribute(
        name,
        value.replace(/var\((--[\w-]+)\)/gu, (_, variable: string) => style.getPropertyValue(variable).trim()),
      );
  [...from.children].forEach((child, index) => {
    const copied = to.children[index];
    if (copied !== undefined) inlineStyles(child, copied, style);
  });
}

/** Names of models and servers may hold characters that no XML file may hold. */
function withoutForbidden(text: string): string {
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/gu, '\ufffd');
}

function sizeOf(svg: SVGSVGElement): { width: number; height: number } {
  const box = svg.getBoundingClientRect();
  return {
    width: Math.round(box.width) || Number(svg.getAttribute('width')) || 640,
    height: Math.round(box.height) || Number(svg.getAttribute('height')) || 400,
  };
}
