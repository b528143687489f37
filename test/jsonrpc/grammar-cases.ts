/** JSON texts and what RFC 8259 says of them, one by one: `yes` is JSON, `no` is not. */
export interface GrammarCase {
  readonly name: string
  readonly bytes: Buffer
  readonly is: 'yes' | 'no'
}

type Texts = Readonly<Record<string, string>>

const hex = (code: number) => `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
const each = <T>(items: readonly T[], name: (item: T) => string, text: (item: T) => string): Texts =>
  Object.fromEntries(items.map(item => [name(item), text(item)]))

/** Texts in a list that white space divides; `␠ ␤ ␀` stand for a space, a line feed and a NUL, `ˋ` for a backtick. */
const listed = (kind: string, list: string): Texts => {
  const signs: Texts = { '␠': ' ', '␤': '\n', '␀': '\0', ˋ: '`' }
  const texts = list.trim().split(/[ \n]+/)
  return each(
    texts,
    text => `${kind} ${text}`,
    text => text.replace(/[␠␤␀ˋ]/g, sign => signs[sign]!),
  )
}

const yes: readonly Texts[] = [
  listed(
    'the number',
    `0 -0 1 -1 10 123 1234567890 18446744073709551615 12345678901234567890123 0.0 -0.0 0.1 1.0 1.10 -1.5 123.456
    1.000000000000000000001 0e0 0E0 0e+0 0E-0 1e1 1E1 1e+1 1E-1 1e01 1e00 1.5e10 -1.5E+10 1e400 -1e400 1e-400
    0e99999999999 1e99999999999 9007199254740993 1.0e1`,
  ),
  listed('the word', 'true false null'),
  listed(
    'the array',
    `[] [␠] [[]] [[],[]] [1] [1,2] [␠1␠,␠2␠] [null] [1,null,true,"a",{},[]] [[[[[[]]]]]] [""] ["a",1e5] ["]"] ["[",1]
    [{"a":[{"b":[]}]}] [␤1␤] [␤] [-0] [1.0] [␠[␠]␠]`,
  ),
  listed(
    'the object',
    `{} {␠} {"a":1} {␠"a"␠:␠1␠} {"a":{}} {"a":[]} {"a":1,"b":2} {"":0} {"a":null} {"a":"a"} {"a":1,"a":2} {"a":1,"a":1}
    {"__proto__":1} {"__proto__":{"x":1}} {"constructor":{}} {"toString":0} {"}":1} {"{":{"[":[]}} {"é":"é"} {"😀":1}
    {"a"␤:␤1} {"a":{"b":{"c":{"d":{}}}}} {"length":-1} {"a":[1,{"b":2}],"c":"d"} {"␠":1} {"0":0}`,
  ),
  listed(
    'the string',
    String.raw`"" "\"" "\\" "\/" "\b" "\f" "\n" "\r" "\t" "\u0000" "\u0041" "\u00e9" "\u00E9" "\ud83d\ude00" "\uffff"
    "\uFFFF" "\ufFfF" "\u2028" "\ufeff" "\ufffe" "\u0022" "\ud800" "\udc00" "\udfff" "\uDBFF" "\ud800\ud800" "\ude00\ud83d"
    "\ud83d\u0041" "\ud83dx" "[{]},:" "/*␠//␠#␠*/" "\\\\\"" "'" "\\u0041" {"\u0061":1} {"\"":1} {"a\u0000b":1} {"\ud800":1}`,
  ),
  each(
    [0x7f, 0x80, 0x85, 0xa0, 0xff, 0x2028, 0x2029, 0xfeff, 0xfffd, 0xffff, 0x10000, 0x1f600, 0x10ffff],
    code => `a string with a plain ${hex(code)}`,
    code => `"${String.fromCodePoint(code)}"`,
  ),
  each(
    ['', ' ', '\t', '\n', '\r', ' \t\r\n '],
    space => `${JSON.stringify(space)} as white space everywhere`,
    space => '_{_"a"_:_[_1_,_{_}_]_}_'.replaceAll('_', space),
  ),
]

/** What other languages call white space, and controls. */
const noSpace = [
  ...range(0, 0x1f).filter(code => ![9, 10, 13].includes(code)),
  0x7f,
  0x85,
  0xa0,
  0xad,
  0x1680,
  0x180e,
  0x2028,
  0x2029,
  0x202f,
  0x205f,
  0x2060,
  0x3000,
  0xfeff,
  ...range(0x2000, 0x200f),
]
const sample = '{"a":[1,-2.5e+3,true,false,null,"\\u00e9\\n\\"x"],"b":{"":{}}}'
const printable = range(0x20, 0x7e).map(code => String.fromCharCode(code))

const no: readonly Texts[] = [
  listed(
    'no number',
    `- + +1 ++1 --1 -+1 +-1 01 00 -01 -00 012 -012 0x1 0X1 0b1 0o7 1. -1. 0. .1 -.1 . -. 1..2 1.2.3 1.e1 .e1 0.e1 1.+1
    1.-1 1e 1E 1e+ 1e- 1E+ 1e1.5 1ee1 1e+-1 1e++1 0e 0e+ 0.1e 1.0e+ e1 -e1 1␠000 1,000 1_000 1a 1f 1L 1n 0a 12x 1e1x 1-1
    1+1 1␠1 -␠1 1␠.5 Infinity -Infinity +Infinity Inf NaN -NaN nan ∞ 1e∞ １ -１ 1２ ١ ² ½ 0x 1/2 1*2 (1) $1 #1 1% '1' ˋ1ˋ
    -true -null -"1" -[1] -{}`,
  ),
  listed(
    'no word',
    `True TRUE tRUE False FALSE Null NULL nil None undefined void yes no on t tr tru truee ttrue f fals falsee n nul nulll
    true␠false truefalse tru␠e nul␀ nullnull true1 true"a" ｔrue trüe true. !true ~null new␠Date a`,
  ),
  each(
    range(0, 0x1f),
    code => `a string with a raw ${hex(code)}`,
    code => `"a${String.fromCharCode(code)}b"`,
  ),
  each(
    range(0, 0x1f),
    code => `an escaped raw ${hex(code)}`,
    code => `"\\${String.fromCharCode(code)}"`,
  ),
  each(
    printable.filter(letter => !'"\\/bfnrtu'.includes(letter)),
    letter => `the escape \\${letter}`,
    letter => `"\\${letter}"`,
  ),
  each(
    [
      '',
      '0',
      '00',
      '004',
      '004g',
      'g041',
      '0x41',
      '{41}',
      ' 041',
      '00 1',
      '+041',
      '-041',
      '00４1',
      '00\\u',
      '004"',
    ],
    rest => `the escape \\u${rest}`,
    rest => `"\\u${rest}"`,
  ),
  listed(
    'no string',
    String.raw`" "a a" "a"" ""a "a"b" 'a' ' ˋaˋ “a” «a» "a' \"a" "\" "\\\" "\ "\u \u0022a" "a"␠"b" "a"+"b" "a\ """
    """a""" b"a" u"a" r"a" {"\x61":1} {"\u006":1} {"a␤b":1} [\n] [\u0031]`,
  ),
  listed(
    'no array',
    `[ ] [[] []] [1 1] [1, [, [,] [,1] [1,] [1,,2] [1,,] [,,] [1␠2] [1;2] [1:2] ["a":1] ["a"␠1] ["a", ["a" [1} [} [{]
    [{} [[1} [1]] [1][2] [1], ,[1] [...] [1␠, [x] [a] ['a'] [1,*] [*] [-] [tru] [nul] [fals [<null>] [1␀] [␀] ["a␀"]
    [1,2 [][] []␠[] []( <1> [1)`,
  ),
  listed(
    'no object',
    `{ } {{} {}} {"a" {"a": {"a":1 {"a":1, {"a"} {"a",1} {"a"␠1} {"a":} {:1} {1:1} {a:1} {'a':1} {"a":1,} {,"a":1}
    {"a":1,,"b":2} {"a":1␠"b":2} {"a":1;"b":2} {"a"::1} {"a":1:2} {"a":1] {] {"a":[} {"a":{]} {null:1} {true:1} {[]:1}
    {{}:1} {"a":1}} {"a":1}{ {}{} {"a":1}, ,{"a":1} {"a":1}# {"a":1}// {"a":1}/**/ {/**/"a":1} {"a":/**/1} {"a"=1}
    {"a"=>1} {"a":x} {"a":b} {"a":"b" {"a":"b {"a":"b} {"a {" {"a"b:1} {"a":1"b":2} {"a":1,␠} {␠,␠} {"a":(1)} {"a":+1}
    {"a":.1} {"a":1.} {"a":01} {"a":0x1} {"a":NaN} {"a":'b'} {,} {;} {"a";1} {"a"␠"b"} {"a":1,"b"} {"a":1,"b":}
    {"a":1,b:2} {"a":1,1}`,
  ),
  listed('a comment', '/**/[] []/**/ [/**/] //␤[] []// #␤[] []# <!--␠-->[] []-- /[] []/'),
  listed('more than one text', '1␠2 []␠{} {}␠1 "b"␠"a" null, null; 1,2 []␤[] {}␀{}'),
  { 'nothing at all': '', 'nothing but white space': ' \t\r\n' },
  ...['S[1]', '[1]S', '[S1]'].map(place =>
    each(
      noSpace,
      code => `${hex(code)} as S in ${place}`,
      code => place.replace('S', String.fromCodePoint(code)),
    ),
  ),
  each(
    range(1, sample.length - 1),
    at => `cut off after ${at} bytes`,
    at => sample.slice(0, at),
  ),
]

const inString = (...bytes: number[]) => Buffer.from([0x22, ...bytes, 0x22])
const lone = [0x80, 0xbf, 0xc0, 0xc1, ...range(0xf5, 0xff)]
/** Bytes that no UTF-8 text holds. */
const noUtf8: Readonly<Record<string, Buffer>> = {
  ...Object.fromEntries(lone.map(byte => [`the lone byte 0x${byte.toString(16)}`, inString(byte)])),
  'a two-byte sequence cut short': inString(0xc3),
  'a three-byte sequence cut short': inString(0xe2, 0x82),
  'a four-byte sequence cut short': inString(0xf0, 0x9f, 0x98),
  'a sequence that the closing quote interrupts': inString(0xe2, 0x22, 0x82),
  'an overlong slash in two bytes': inString(0xc0, 0xaf),
  'an overlong slash in three bytes': inString(0xe0, 0x80, 0xaf),
  'an overlong slash in four bytes': inString(0xf0, 0x80, 0x80, 0xaf),
  'an overlong quote': inString(0xc0, 0xa2),
  'an encoded high surrogate': inString(0xed, 0xa0, 0xbd),
  'an encoded low surrogate': inString(0xed, 0xbf, 0xbf),
  'an encoded pair of surrogates': inString(0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80),
  'a code point beyond Unicode': inString(0xf4, 0x90, 0x80, 0x80),
  'a five-byte sequence': inString(0xf8, 0x88, 0x80, 0x80, 0x80),
  'Latin-1': inString(0xe9),
  'UTF-16, little end first': Buffer.from('[1]', 'utf16le'),
  'UTF-16 with a mark': Buffer.from('\ufeff[1]', 'utf16le'),
  'a name in Latin-1': Buffer.from('{"é":1}', 'latin1'),
  'a broken byte behind the text': Buffer.from([0x5b, 0x5d, 0xff]),
}

const cases = (groups: readonly Texts[], is: GrammarCase['is']): GrammarCase[] =>
  groups
    .flatMap(texts => Object.entries(texts))
    .map(([name, text]) => ({ name, bytes: Buffer.from(text), is }))

/** Every case. */
export const grammarCases: readonly GrammarCase[] = [
  ...cases(yes, 'yes'),
  ...cases(no, 'no'),
  ...Object.entries(noUtf8).map(([name, bytes]) => ({ name, bytes, is: 'no' as const })),
]
