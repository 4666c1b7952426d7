import { Failure } from '../../lib/base/errors/failure.ts';

const KEY = /^[A-Za-z0-9][-A-Za-z0-9_./]*$/;
const VALUE = /^[-A-Za-z0-9_.]*$/;

/**
 * Whether labels match a selector of the simple kind: `a=b`, `a==b`, `a!=b`, `a`, `!a`, with commas between them.
 *
 * @throws Failure (usage) for one with sets, which only the API server judges
 */
export const matchesLabels = (
  selector: string,
  labels: Readonly<Record<string, string>>,
): boolean => selector.split(',').every((term) => matchesTerm(term.trim(), labels));

function matchesTerm(term: string, labels: Readonly<Record<string, string>>): boolean {
  const [, key = '', operator = '', value = ''] = /^([^=!]+)(==?|!=)(.*)$/.exec(term) ?? [];
  if (KEY.test(key.trim()) && VALUE.test(value.trim())) {
    return (labels[key.trim()] === value.trim()) === (operator !== '!=');
  }
  const [, not, name = ''] = /^(!?)(.*)$/.exec(term) ?? [];
  if (KEY.test(name)) return Object.hasOwn(labels, name) === (not === '');
  throw new Failure(
    'usage',
    `--selector ${JSON.stringify(term.slice(0, 80))} cannot be judged here`,
    {
      expected: 'NAME=VALUE, NAME!=VALUE, NAME or !NAME',
      fix: 'Set --count instead of --sites.',
    },
  );
}
