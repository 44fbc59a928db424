/**
 * Filler: sentences of an office handbook with questions and answers in between, drawn by seed. Plain, alike, a bit dull: a
 * needle must be found by reading, not by oddness. No sentence has a token of the needles' shape.
 */
import type { Random } from './random.ts';

/** Sentences without end, each without a space after it. `opensParagraph`: a new paragraph begins with it. */
export function createFiller(random: Random): () => { text: string; opensParagraph: boolean } {
  let leftInParagraph = 0;
  let section = 0;
  let answer: string | null = null;
  return () => {
    if (answer !== null) {
      const text = answer;
      answer = null;
      return { text, opensParagraph: false };
    }
    if (leftInParagraph > 0) {
      leftInParagraph -= 1;
      return { text: fill(random.pick(policySentences), random), opensParagraph: false };
    }
    leftInParagraph = 3 + random.below(4);
    if (random.below(4) === 0) {
      leftInParagraph = 0;
      const pair = random.pick(questionsAndAnswers);
      const topic = random.pick(topics);
      answer = `A: ${fill(pair.answer, random, topic)}`;
      return { text: `Q: ${fill(pair.question, random, topic)}`, opensParagraph: true };
    }
    section += 1;
    return { text: `Part ${section}. ${fill(random.pick(policySentences), random)}`, opensParagraph: true };
  };
}

/** A sentence of exactly `length` characters, at least `EXACT_SENTENCE_MIN`. */
export function exactSentence(length: number, random: Random): string {
  if (length < EXACT_SENTENCE_MIN)
    throw new RangeError(`an exact sentence has at least ${EXACT_SENTENCE_MIN} characters: ${length}`);
  let text = 'Also see';
  // Each round leaves room for one more word, so that the last word can close the gap exactly.
  for (;;) {
    const left = length - text.length - 1;
    if (left <= 1 + WORD_LENGTH_MAX) return `${text} ${random.pick(wordsByLength[left - 1] ?? [])}.`;
    const lengths = [3, 4, 5, 6, 7].filter((size) => left - size - 1 >= 1 + WORD_LENGTH_MIN);
    text += ` ${random.pick(wordsByLength[random.pick(lengths)] ?? [])}`;
  }
}

const WORD_LENGTH_MIN = 3;
const WORD_LENGTH_MAX = 11;
/** "Also see" + a space + a word of three letters + the full stop. */
export const EXACT_SENTENCE_MIN = 8 + 1 + WORD_LENGTH_MIN + 1;

function fill(template: string, random: Random, topic?: string): string {
  return template.replace(/\{(\w+)\}/g, (_, slot: string) => {
    if (slot === 'topic') return topic ?? random.pick(topics);
    if (slot === 'team') return random.pick(teams);
    if (slot === 'place') return random.pick(places);
    if (slot === 'form') return random.pick(forms);
    if (slot === 'days') return String(2 + random.below(28));
    if (slot === 'room') return String(10 + random.below(90));
    return random.pick(times);
  });
}

// prettier-ignore
const topics = [
  'travel', 'parking', 'badges', 'heating', 'printers', 'parcels', 'keys', 'lamps', 'chairs', 'holidays', 'training',
  'visitors', 'bicycles', 'telephones', 'software', 'laptops', 'meals', 'cleaning', 'recycling', 'lockers', 'first aid',
  'meeting rooms', 'business cards', 'expenses', 'overtime', 'sick leave', 'moving desks', 'archive boxes', 'guest access',
  'screen filters',
];

// prettier-ignore
const teams = [
  'the front office', 'the building team', 'the service desk', 'the people team', 'the finance office', 'the travel office',
  'the night porter', 'the safety officer', 'the post room', 'the works council', 'the line manager', 'the purchasing group',
];

const places = [
  'the main hall',
  'the west stairs',
  'the ground floor',
  'the canteen',
  'the north yard',
  'the library',
  'the second floor',
  'the loading bay',
];

const forms = [
  'a short note',
  'the yellow form',
  'an e-mail',
  'the online form',
  'a signed list',
  'a photo of the damage',
  'the weekly sheet',
];

const times = [
  'before noon',
  'by the end of the week',
  'on the first working day of the month',
  'within the same shift',
  'after the monthly review',
  'once a quarter',
];

const policySentences = [
  'Requests about {topic} go to {team} and are answered within {days} working days.',
  'Anyone who needs help with {topic} sends {form} to {team} {time}.',
  'Room {room} is kept free for {topic} and is opened by {team}.',
  'Costs for {topic} are paid back when {form} has reached {team} {time}.',
  'Changes to {topic} are announced in {place} at least {days} days ahead.',
  'Nobody may settle {topic} alone; {team} signs first and keeps a copy for {days} days.',
  'Where {topic} and {topic} overlap, {team} decides and says why.',
  'Lost items from {place} are stored in room {room} for {days} days and then given away.',
  'A complaint about {topic} is read by two people, one of them from {team}.',
  'New colleagues learn about {topic} in their first {days} days, together with {team}.',
  'Equipment for {topic} is checked {time} and the result hangs in {place}.',
  'When {team} is closed, questions about {topic} wait until the next day.',
  'Up to {days} requests about {topic} can be open at once; older ones are answered first.',
  'The rule for {topic} was shortened last year because hardly anyone had read it.',
  'Guests wait in {place} until {team} has been told.',
  'If {form} is missing, {team} asks once and closes the request after {days} days.',
  'Exceptions for {topic} end by themselves after {days} weeks.',
  'Copies of this part are available in {place} and in room {room}.',
];

const questionsAndAnswers = [
  { question: 'Who looks after {topic}?', answer: 'That is {team}, every working day, in room {room}.' },
  {
    question: 'How long does an answer about {topic} take?',
    answer: 'Most people hear back within {days} days, in summer a little later.',
  },
  { question: 'May I arrange {topic} myself?', answer: 'Only after {team} has agreed, and with {form}.' },
  {
    question: 'Where do I hand in papers about {topic}?',
    answer: 'In {place}, {time}, or under the door of room {room}.',
  },
  {
    question: 'What happens to {topic} when I change teams?',
    answer: 'It moves with you; {team} needs {form} {time}.',
  },
  {
    question: 'Can a guest ask about {topic}?',
    answer: 'Yes, through the person they visit, who then talks to {team}.',
  },
  {
    question: 'Why was my request about {topic} closed?',
    answer: 'Usually because {form} did not arrive within {days} days.',
  },
];

const wordsByLength: Readonly<Record<number, readonly string[]>> = {
  3: ['the', 'day', 'and', 'for'],
  4: ['hall', 'desk', 'note', 'list'],
  5: ['floor', 'plans', 'rules', 'paper'],
  6: ['office', 'stairs', 'sheets', 'orders'],
  7: ['working', 'signing', 'windows', 'manuals'],
  8: ['building', 'requests', 'meetings', 'cupboard'],
  9: ['corridors', 'telephone', 'documents', 'equipment'],
  10: ['colleagues', 'department', 'exceptions', 'agreements'],
  11: ['maintenance', 'information', 'attendances', 'instruction'],
};
