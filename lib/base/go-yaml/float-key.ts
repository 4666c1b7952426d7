/** The shortest text that is the same number in 32 bits needs no more digits. */
const MAX_DIGITS = 9;

/** A float as a key of JSON: Go's FormatFloat with `g` and 32 bits, as sigs.k8s.io/yaml calls it. */
export function float32Key(value: number): string {
  const rounded = Math.fround(value);
  if (Number.isNaN(rounded)) return '.nan';
  if (!Number.isFinite(rounded)) return rounded > 0 ? '.inf' : '-.inf';
  const sign = rounded < 0 || Object.is(rounded, -0) ? '-' : '';
  const [digits, exponent] = shortest(Math.abs(rounded));
  return (
    sign + (exponent < -4 || exponent >= 6 ? scientific(digits, exponent) : plain(digits, exponent))
  );
}

/** Digits without a point, and the exponent of the first. */
function shortest(value: number): [digits: string, exponent: number] {
  for (let count = 1; ; count++) {
    const [digits = '', exponent] = value.toExponential(count - 1).split('e');
    if (count === MAX_DIGITS || Math.fround(Number(`${digits}e${exponent}`)) === value) {
      return [digits.replace('.', ''), Number(exponent)];
    }
  }
}

function scientific(digits: string, exponent: number): string {
  const [first = '0', rest = ''] = [digits.slice(0, 1), digits.slice(1)];
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${first}${rest === '' ? '' : `.${rest}`}e${exponent < 0 ? '-' : '+'}${size}`;
}

function plain(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const rest = digits.slice(exponent + 1);
  return rest === '' ? whole : `${whole}.${rest}`;
}
