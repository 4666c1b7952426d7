import { lintSource } from '@secretlint/core';
import { creator } from '@secretlint/secretlint-rule-preset-recommend';
import t from 'tap';
import { safe } from './marked.ts';
import { ALPHANUMERIC, SeededRandom } from './random.ts';

const HEX = '0123456789abcdef';

/** Tokens of the makers that secretlint's rules know, which judge whether they are such. */
function tokens(random: SeededRandom): string[] {
  const text = (length: number, alphabet?: string) => random.text(length, alphabet);
  return [
    ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((prefix) => prefix + text(36)),
    `github_pat_${text(22)}_${text(59)}`,
    `glpat-${text(20)}`,
    `npm_${text(36)}`,
    `xoxb-${text(12, '0123456789')}-${text(24)}`,
    `xapp-1-${text(11)}-${text(13, '0123456789')}-${text(64, HEX)}`,
    `sk-${text(20)}T3BlbkFJ${text(20)}`,
    `sk-proj-${text(74)}T3BlbkFJ${text(74)}`,
    `sk-ant-api03-${text(93)}AA`,
    `gsk_${text(52)}`,
    `hf_${text(34, ALPHANUMERIC.slice(0, 52))}`,
    `lin_api_${text(40)}`,
    `ntn_${text(11, '0123456789')}${text(35)}`,
    `SG.${text(22)}.${text(43)}`,
    ...['shpat_', 'shpca_', 'shppa_', 'shpss_'].map((prefix) => prefix + text(32, HEX)),
    ...['sk_live_', 'rk_live_', 'sk_test_', 'rk_test_'].map((prefix) => prefix + text(32)),
    `glsa_${text(32)}_${text(8, HEX)}`,
    `hvs.${text(95)}`,
    `hvb.${text(140)}`,
    `dckr_pat_${text(27)}`,
    `figd_${text(40)}`,
    `tskey-auth-${text(12)}-${text(32)}`,
  ];
}

/** How many secrets others' rules find. */
async function found(content: string): Promise<number> {
  const { messages } = await lintSource({
    source: { filePath: 'app.log', content, ext: '.log', contentType: 'text' },
    options: { config: { rules: [{ id: 'preset', rule: creator }] }, noPhysicFilePath: true },
  });
  return messages.length;
}

t.test('what the rules of others call a token is removed', async (t) => {
  const all = tokens(new SeededRandom(5));
  const lines = all.map((token) => `Nov 21 14:58:25 sno-0 app[1]: got ${token} from it\n`);
  for (const line of lines) t.ok((await found(line)) > 0, `they know ${line}`);
  for (const [index, line] of lines.entries()) {
    t.equal(await safe(line), line.replace(all[index] ?? '', '#'), line);
    t.equal(await found(await safe(line, { marks: true })), 0);
  }
});

t.test('what only begins like a token stays', async (t) => {
  for (const line of [
    'sk-learn-pipeline-of-the-cluster started\n',
    'npm_config_cache_of_the_build=1\n',
    'hf_transformers_of_the_model loaded\n',
    'pod glsa_operator-5d7f6c9b8-x2x7q is pending\n',
    'sha256~short\n',
  ])
    t.equal(await safe(line), line);
});
