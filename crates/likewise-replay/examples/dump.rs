use likewise_recording::Recording;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let r = Recording::open(args[1].as_ref()).unwrap();
    let mut e = r.events(args[2].parse().unwrap());
    let mut i = 0;
    while let Some(ev) = e.next().unwrap() {
        println!("{i} {} {:?} gap {} len {} {:?}", r.symbols()[ev.symbol as usize].call.name(), ev.values, ev.gap, ev.end - ev.begin, ev.counters);
        i += 1;
    }
}
