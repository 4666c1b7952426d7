/** What firmware says instead of a serial number, without spaces and punctuation. */
const WORDS = new Set(
  [
    'none null nil empty blank invalid unknown unknow unspecified undefined default standard test tbd oem',
    'na notapplicable notavailable notspecified notprovided notset notused notdefined notassigned notsettable nopresent notpresent',
    'defaultstring oemstring oemdefine oemdefined tobefilledbyoem tobefilledbyoemm tobefilled tobedefined',
    'serial serialno serialnum serialnumber sn sernum systemserial systemserialnumber systemserialno productserialnumber',
    'boardserialnumber baseboardserialnumber mainboardserialnumber motherboardserialnumber chassisserialnumber',
    'type1systemserialnumber type2boardserialnumber type3chassisserialnumber xserial eval evaluation',
    'noserial noserialnumber insertserialnumberhere fillbyoem filledbyoem programmedbyoem assettag noassettag',
  ].flatMap((line) => line.split(' ')),
);

/** The same UUID on each machine of a board, also with the bytes of its first groups exchanged. */
const UUIDS = new Set(
  [
    '03000200-0400-0500-0006-000700080009',
    '00020003-0004-0005-0006-000700080009',
    '12345678-1234-5678-90ab-cddeefaabbcc',
    '78563412-3412-7856-90ab-cddeefaabbcc',
    '12345678-1234-1234-1234-123456789012',
    '12345678-1234-1234-1234-123456789abc',
    '78563412-3412-3412-1234-123456789abc',
    // Of a machine without service tag.
    '4c4c4544-0000-2010-8020-80c04f202020',
    '44454c4c-0000-1020-8020-80c04f202020',
  ].map(withoutMarks),
);

const COUNTED = ['01234567890123456789', '12345678901234567890'];
const HEXADECIMAL = /^[0-9a-f]{8,}$/;
const UUID_DIGITS = /^[0-9a-f]{32}$/;

/**
 * Whether a serial number or a UUID of the firmware is one that a vendor has left as it was: the same on many machines, so that
 * it identifies none.
 */
export function isPlaceholder(text: string): boolean {
  const plain = withoutMarks(text);
  // Nothing but punctuation, one digit, or one character again and again.
  if (/^(\d?|(.)\2+)$/.test(plain) || WORDS.has(plain)) return true;
  if (UUID_DIGITS.test(plain)) return isPlaceholderUuid(plain);
  if (HEXADECIMAL.test(plain) && isCount([...plain], 16)) return true;
  // Such as MB-1234567890.
  const [, digits = ''] = /^[a-z]{0,4}(\d{6,})$/.exec(plain) ?? [];
  if (digits === '') return false;
  return COUNTED.some((count) => count.startsWith(digits)) || /^(\d)\1*$/.test(digits);
}

function withoutMarks(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

function isPlaceholderUuid(digits: string): boolean {
  const bytes = digits.match(/../g) ?? [];
  return (
    UUIDS.has(digits) ||
    // A short pattern, a count, or a small number.
    /^(.{1,4})\1*$/.test(digits) ||
    isCount([...digits], 16) ||
    isCount(bytes, 256) ||
    digits.startsWith('0'.repeat(28)) ||
    /^(.)\1{7}(.)\2{3}(.)\3{3}(.)\4{3}(.)\5{11}$/.test(digits)
  );
}

/** Whether each hexadecimal number follows the one before by the same step. */
function isCount(texts: readonly string[], modulus: number): boolean {
  const numbers = texts.map((text) => Number.parseInt(text, 16));
  const steps = numbers.slice(1).map((each, at) => (each - (numbers[at] ?? 0) + modulus) % modulus);
  return steps.every((step) => step === steps[0]);
}
