import jsQR from 'jsqr';

const PIXELS = 4;
/** Upper and lower half of each character. A console draws light on dark. */
const HALVES: Readonly<Record<string, readonly [upper: boolean, lower: boolean]>> = {
  '█': [true, true],
  '▀': [true, false],
  '▄': [false, true],
  ' ': [false, false],
};

/** What a camera finds on a dark screen that shows the lines, with some of the screen around them. */
export function readQr(lines: readonly string[]): string | undefined {
  const rows = lines.flatMap((line) => {
    const halves = Array.from(line, (character) => HALVES[character] ?? [false, false]);
    return [halves.map(([upper]) => upper), halves.map(([, lower]) => lower)];
  });
  const width = Math.max(...rows.map((row) => row.length)) + 8;
  const dark = Array.from({ length: 4 }, (): boolean[] => []);
  const screen = [...dark, ...rows, ...dark];
  const pixels = new Uint8ClampedArray(screen.length * width * PIXELS * PIXELS * 4);
  for (const [at] of Array.from({ length: pixels.length / 4 }).entries()) {
    const [x, y] = [at % (width * PIXELS), Math.floor(at / (width * PIXELS))];
    const isLight = screen[Math.floor(y / PIXELS)]?.[Math.floor(x / PIXELS) - 4] === true;
    pixels.set(isLight ? [255, 255, 255, 255] : [0, 0, 0, 255], at * 4);
  }
  return jsQR.default(pixels, width * PIXELS, screen.length * PIXELS)?.data;
}
