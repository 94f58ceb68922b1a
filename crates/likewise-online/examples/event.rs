//! What an event costs a rank that only keeps its signature:
//!
//! ```text
//! cargo run --release -p likewise-online --example event
//! ```

use likewise_online::Rolling;
use std::hint::black_box;
use std::time::Instant;

const EVENTS: u32 = 2_000_000;

/// Events from one marker to the next.
const INTERVAL: u32 = 1000;

/// The symbol of an event, from its number and a number that looks random.
type Symbol = fn(u32, u64) -> u32;

fn main() {
    let programs: [(&str, Symbol); 4] = [
        ("a loop of five calls", |at, _| at % 5),
        ("a loop of 40 calls with a loop of 10 in it", |at, _| if at % 80 < 50 { at % 10 } else { at % 80 }),
        ("two calls, the first up to eight times", |_, random| u32::from(random.is_multiple_of(8))),
        ("no order, of 100 calls", |_, random| (random % 100) as u32),
    ];
    for (name, symbol) in programs {
        let (mut rolling, mut random) = (Rolling::new(), 1_u64);
        let (mut markers, mut memory) = (0.0, 0);
        (0..100).for_each(|symbol| rolling.know(symbol, u128::from(symbol) + 1));
        let start = Instant::now();
        for at in 0..EVENTS {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            rolling.event(symbol(at, random >> 40), Some(1), None, 7);
            if at % INTERVAL == INTERVAL - 1 {
                let before = Instant::now();
                memory = rolling.memory().max(memory);
                black_box(rolling.end());
                markers += before.elapsed().as_secs_f64();
            }
        }
        let events = start.elapsed().as_secs_f64() - markers;
        let (event, marker) =
            (events * 1e9 / f64::from(EVENTS), markers * 1e6 / f64::from(EVENTS / INTERVAL));
        println!("{name}: {event:.1} ns an event, {marker:.1} µs a marker, at most {memory} bytes");
    }
}
