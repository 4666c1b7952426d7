import type { Pattern } from './pattern.ts';
import { isLikely, looksRandom } from './values.ts';

const list = (prefixes: string) => prefixes.split(' ');

/**
 * How tokens begin that nothing else looks like, as their makers and collections of rules publish it
 * (`@secretlint/secretlint-rule-preset-recommend`, with which a test compares this list).
 */
const CERTAIN = list(
  'ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- glrt- gldt- glft- glsoat- glptt- glcbt- glimt- glagent- gloas- glffct- xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxe. xapp- npm_ pypi- dckr_pat_ dckr_oat_ hvs. hvb. hvr. AIza ya29. GOCSPX- tskey- AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1 AGE-PLUGIN- sk_live_ sk_test_ rk_live_ rk_test_ whsec_ sha256~ AKIA ASIA ABIA ABSK glsa_ glc_ shpat_ shpca_ shppa_ shpss_ lin_api_ lin_oauth_ figd_ dop_v1_ doo_v1_ dor_v1_ PMAK- rubygems_ sntrys_ sntryu_ dp.pt. dp.st. dp.sa. NRAK- ATATT3 ATCTT3 xkeysib- xsmtpsib- sq0csp- sq0atp- pscale_tkn_ pscale_pw_ pscale_oauth_ pcsk_ nvapi- CFPAT- FlyV1 sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or- api_org_ gsk_ sbp_ dapi',
);
/** How others begin, and so do ordinary names: what follows must look random. */
const DOUBTFUL = list(
  'hf_ sk- SG. r8_ ntn_ nfp_ pat- pul- sgp_ xai- pplx- tvly- ops_ fm2_ csk- phx_ bkua_ LTAI',
);
/** Of a trigger, which needs four characters. */
const NEXT = [...'abcdefghijklmnopqrstuvwxyz0123456789'];
const MIN_TRIGGER = 4;

/** No part of another word; the letter of an escaped newline and percent-encoding end one. */
export const START = '(?:(?<![\\w-])|(?<=\\\\[nrt]|%[0-9A-Fa-f]{2}|\\\\u00[0-9a-f]{2}))';

const shape = (prefixes: readonly string[], isSecret: (rest: string) => boolean): Pattern => ({
  triggers: prefixes.flatMap((prefix) =>
    prefix.length < MIN_TRIGGER ? NEXT.map((next) => prefix + next) : [prefix],
  ),
  find: new RegExp(
    `${START}(?<secret>(?<prefix>${prefixes.map((prefix) => prefix.replaceAll('.', '\\.')).join('|')})[\\w.~+-]{10,2048}={0,2})`,
    'dy',
  ),
  isSecret: (secret) => isSecret(secret.replace(/^[\w.]*?[-_.~](?=\w{8})/, '')),
});

/** The name of a pod and the like. */
const OBJECT = /^[a-z]+(?:[-_][a-z0-9]+)+$/;

export const TOKENS: readonly Pattern[] = [
  shape(
    CERTAIN,
    (rest) =>
      (/\d/.test(rest) && !OBJECT.test(rest)) || /^[A-Z]{16,}$|[a-z][A-Z][a-z]*[A-Z]/.test(rest),
  ),
  shape(DOUBTFUL, (rest) => looksRandom(rest) || isLikely(rest)),
];
