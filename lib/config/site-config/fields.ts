import { isIP } from 'node:net';
import type { Problem } from '../../base/errors/problem.ts';
import { isAddress } from '../../base/network/address.ts';
import { isPlaceholder } from '../../host/placeholders.ts';
import { isLookupName, isSubdomain } from '../site/names.ts';
import { isNoAdapters } from '../site/nmstate/hardware.ts';

const MAC = /^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$/;

/** The serial number of a machine as its firmware tells it, if it identifies one, or a MAC address. */
const isIdentifier = (text: string): boolean =>
  MAC.test(text)
    ? !isNoAdapters(text)
    : /^[!-~]([ -~]{0,62}[!-~])?$/.test(text) && !text.includes(':') && !isPlaceholder(text);

/** A MAC address as Windows and switches write it. */
const OTHER_MAC = /^([0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}$|^([0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}$/;

/** A large number as spreadsheets round it, a formula, and an error of one, such as #N/A. */
const OF_SPREADSHEET = /^\d(?:[.,]\d+)?E\+\d+$|^[=#]/i;

/** Why a text identifies no machine. */
export function identifierProblem(text: string): Problem | undefined {
  if (OF_SPREADSHEET.test(text)) {
    const found = `${JSON.stringify(text.slice(0, 60))}, as a spreadsheet writes a number or a formula`;
    const fix = 'Format the column as text, and enter the numbers again.';
    return { expected: 'the serial number as the machine has it', found, fix };
  }
  if (OTHER_MAC.test(text)) {
    const digits = text.replaceAll(/[^0-9A-Fa-f]/g, '').match(/../g) ?? [];
    const fix = `Write it as "${digits.join(':')}".`;
    return { expected: 'a MAC address with colons', fix };
  }
  if (isIdentifier(text)) return undefined;
  return {
    expected: 'the serial number that one machine alone has, or a MAC address',
    fix: 'Write it in quotes, as the label of the machine has it. If its firmware has none, write a MAC address.',
  };
}

const NAME = '[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?';
const LABEL_NAME = new RegExp(`^${NAME}$`);

/** The kubelet sets these itself (kubernetes/kubernetes, well_known_labels.go). */
const OF_KUBELET = ['hostname', 'arch', 'os'].map((name) => `kubernetes.io/${name}`);

export const isLabelKey = (key: string): boolean =>
  isQualifiedName(key) && !OF_KUBELET.includes(key);

/** The key of a label or an annotation of any object. */
export function isQualifiedName(key: string): boolean {
  const [name = '', prefix, ...rest] = key.split('/').toReversed();
  if (rest.length > 0 || !LABEL_NAME.test(name)) return false;
  return prefix === undefined || isSubdomain(prefix);
}

export const isLabelValue = (value: string): boolean => value === '' || LABEL_NAME.test(value);

/** Why a text is not `HOST:PORT`. */
export function endpointProblem(text: string): Problem | undefined {
  return endpointOf(text) === undefined
    ? {
        expected: 'a name or an address, and a port',
        fix: 'Write it as registry.example.com:5000 or "[fd00::1]:5000".',
      }
    : undefined;
}

export function endpointOf(text: string): { host: string; port: number } | undefined {
  const [, bracketed, plain = '', digits = ''] =
    /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]+)):([1-9]\d{0,4})$/.exec(text) ?? [];
  const port = Number(digits);
  const isHost = bracketed === undefined ? isPlainHost(plain) : isIP(bracketed) === 6;
  return isHost && port >= 1 && port <= 65_535 ? { host: bracketed ?? plain, port } : undefined;
}

/** A number with dots is an address or nothing. */
const isPlainHost = (host: string) => isAddress(host) || isLookupName(host);

/** Why a text is not the URL of a server that is asked without credentials. */
export function httpsProblem(text: string): Problem | undefined {
  const expected = 'an https URL without a password';
  const fix = 'Write it as https://registry.example.com/v2/.';
  if (!URL.canParse(text) || /[^!-~]/.test(text)) return { expected, found: 'no URL', fix };
  const { protocol, username, password } = new URL(text);
  if (protocol !== 'https:') return { expected, found: `a URL of ${protocol.slice(0, 20)}`, fix };
  return username + password === '' ? undefined : { expected, found: 'one with a user', fix };
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})$/;

/** A date, which includes its last second in UTC, or a time. */
export function timeOf(text: string): Date | undefined {
  const isDate = DATE.test(text);
  if (!isDate && !TIME.test(text)) return undefined;
  const time = new Date(isDate ? `${text}T23:59:59Z` : text);
  if (Number.isNaN(time.getTime())) return undefined;
  // JavaScript takes the 30th of February for the 2nd of March.
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString();
  return day.startsWith(text.slice(0, 10)) ? time : undefined;
}

export function timeProblem(text: string): Problem | undefined {
  return timeOf(text) === undefined
    ? {
        expected: 'a date, or a time with its zone',
        fix: 'Write it as 2027-01-31 or 2027-01-31T12:00:00Z.',
      }
    : undefined;
}
